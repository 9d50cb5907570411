import { nullable, number, table, text } from '../table.ts'

export const apiKeyTables = {
  api_keys: table({
    rows: 'control',
    key: ['id'],
    columns: {
      tenant_id: text(),
      id: text(),
      kind: text<'workspace' | 'environment'>(),
      name: text(),
      admin: number(),
      environment_id: nullable(text()),
      /** The reach of an environment key: the work of its environment, or its sessions too. Null for a workspace key. */
      reach: nullable(text<'work' | 'sessions'>()),
      read_only: number(),
      /** The person or the key that created this key. Null: the operator did. */
      created_by: nullable(text()),
      last_used_at: nullable(text()),
      hash: text(),
      preview: text(),
      expires_at: nullable(text()),
      revoked_at: nullable(text()),
      /** Null for a key that is only deactivated: an admin may activate it again. */
      archived_at: nullable(text()),
      created_at: text(),
    },
  }),
}
