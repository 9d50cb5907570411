import { nullable, number, optional, table, text } from '../table.ts'

/** `asked`, `waiting`: a person or a client has to answer. `started`: the tool runs. `done`: the log has the result. */
export type CallState = 'asked' | 'waiting' | 'allowed' | 'denied' | 'started' | 'done'

export const logTables = {
  inbox: table({
    rows: 'tenant',
    key: ['session_id', 'position'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      session_id: text(),
      position: number(),
      id: text(),
      type: text(),
      /** JSON. Empty when the text is in `long_text_pieces`. */
      event: text(),
      /** Bytes of all messages that entered this inbox before. */
      bytes_before: number(),
      /** The child thread that receives the message. */
      thread_id: optional(nullable(text())),
      /** A message that joins the turn that runs. Null: it waits for the end of that turn. */
      steers: optional(nullable(text<'yes'>())),
      created_at: text(),
    },
  }),
  events: table({
    rows: 'tenant',
    key: ['session_id', 'seq'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      session_id: text(),
      seq: number(),
      id: text(),
      type: text(),
      created_at: text(),
      processed_at: nullable(text()),
      /** JSON: the fields of the event's type. Empty when the text is in `long_text_pieces`. */
      data: text(),
      /**
       * Data that only the next model request needs, never shown to callers; what a model request cost, or the pause after
       * an error.
       */
      opaque: nullable(text()),
      /** The child thread of the event. */
      thread_id: optional(nullable(text())),
      /** `yes`: the session's stream shows this event of a child thread too. */
      shared: optional(nullable(text<'yes'>())),
    },
  }),
  /** Texts of long messages. A text is stored before its message is admitted. */
  long_texts: table({
    rows: 'tenant',
    key: ['session_id', 'event_id'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      session_id: text(),
      event_id: text(),
      bytes: number(),
      /** `kept`: the message is not admitted yet. `owned`: a message or an event has it. `left`: to be deleted. */
      state: text<'kept' | 'owned' | 'left'>(),
      created_at: text(),
    },
  }),
  long_text_pieces: table({
    rows: 'tenant',
    key: ['session_id', 'event_id', 'piece'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      session_id: text(),
      event_id: text(),
      /** Index of the piece, from 0. */
      piece: number(),
      text: text(),
    },
  }),
  calls: table({
    rows: 'tenant',
    key: ['session_id', 'event_id'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      session_id: text(),
      event_id: text(),
      seq: number(),
      state: text<CallState>(),
      /** 1 when a worker runs the call. */
      worker: number(),
      deny_message: nullable(text()),
      /** The child thread that made the call. */
      thread_id: optional(nullable(text())),
    },
  }),
}
