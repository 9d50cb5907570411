/** `asked`, `waiting`: a person or a client has to answer. `started`: the tool runs. `done`: the log has the result. */
export type CallState = 'asked' | 'waiting' | 'allowed' | 'denied' | 'started' | 'done'

export type LogTables = {
  inbox: {
    tenant_id: string
    session_id: string
    position: number
    id: string
    type: string
    /** JSON. Empty when the text is in `long_text_pieces`. */
    event: string
    /** Bytes of all messages that entered this inbox before. */
    bytes_before: number
    /** The child thread that receives the message. */
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
    /** JSON: the fields of the event's type. Empty when the text is in `long_text_pieces`. */
    data: string
    /**
     * Data that only the next model request needs, never shown to callers; what a model request cost, or the pause after
     * an error.
     */
    opaque: string | null
    /** The child thread of the event. */
    thread_id?: string | null
    /** `yes`: the session's stream shows this event of a child thread too. */
    shared?: 'yes' | null
  }
  /** Texts of long messages. A text is stored before its message is admitted. */
  long_texts: {
    tenant_id: string
    session_id: string
    event_id: string
    bytes: number
    /** `kept`: the message is not admitted yet. `owned`: a message or an event has it. `left`: to be deleted. */
    state: 'kept' | 'owned' | 'left'
    created_at: string
  }
  long_text_pieces: {
    tenant_id: string
    session_id: string
    event_id: string
    /** Index of the piece, from 0. */
    piece: number
    text: string
  }
  calls: {
    tenant_id: string
    session_id: string
    event_id: string
    seq: number
    state: CallState
    /** 1 when a worker runs the call. */
    worker: number
    deny_message: string | null
    /** The child thread that made the call. */
    thread_id?: string | null
  }
}
