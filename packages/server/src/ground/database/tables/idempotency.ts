import { nullable, number, table, text } from '../table.ts'

export const idempotencyTables = {
  /** Idempotency keys of served requests, kept for a day. A repeated request gets the first answer's object. */
  idempotency_keys: table({
    rows: 'tenant',
    key: ['tenant_id', 'scope', 'key'],
    columns: {
      tenant_id: text(),
      /** The kind of request, such as the creation of a session. */
      scope: text(),
      key: text(),
      body_hash: text(),
      created_ms: number(),
      /** The id of the object that the request created. */
      made_id: nullable(text()),
    },
  }),
  /** Pairs of the sessions' metadata, for lists that filter by a pair. */
  session_metadata: table({
    rows: 'tenant',
    key: ['tenant_id', 'key', 'value', 'session_id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      key: text(),
      value: text(),
    },
  }),
}
