/** `asked` and `waiting` need a person or a client; `started` has begun; `done` has its result in the log. */
export type CallState = 'asked' | 'waiting' | 'allowed' | 'denied' | 'started' | 'done'

export type LogTables = {
  inbox: {
    tenant_id: string
    session_id: string
    position: number
    id: string
    type: string
    /** JSON. Empty where the text is in `long_text_pieces`. */
    event: string
    /** Of all that was ever put into this inbox before. */
    bytes_before: number
    /** The child thread that it is for. */
    thread_id?: string | null
    created_at: string
  }
  events: {
    tenant_id: string
    session_id: string
    seq: number
    id: string
    type: string
    created_at: string
    processed_at: string | null
    /** JSON: the fields of its type. Empty where the text is in `long_text_pieces`. */
    data: string
    /** What only the next model request needs; never shown. */
    opaque: string | null
    /** The child thread that it belongs to. */
    thread_id?: string | null
    /** Not null: the stream of the session shows the event of a child thread too. */
    shared?: 'yes' | null
  }
  /** The texts of long messages, each kept before its message is admitted. */
  long_texts: {
    tenant_id: string
    session_id: string
    event_id: string
    bytes: number
    /** `kept` before its message is admitted, `owned` by a message that waits or an event of the log, `left` to be removed. */
    state: 'kept' | 'owned' | 'left'
    created_at: string
  }
  long_text_pieces: {
    tenant_id: string
    session_id: string
    event_id: string
    /** From 0. */
    piece: number
    text: string
  }
  calls: {
    tenant_id: string
    session_id: string
    event_id: string
    seq: number
    state: CallState
    /** Whether a worker runs it. */
    worker: number
    deny_message: string | null
    /** The child thread that made it. */
    thread_id?: string | null
  }
}
