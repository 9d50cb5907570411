import { nullable, number, table, text } from '../table.ts'
import type { Role } from '../../core/security/roles.ts'

export const apiKeyTables = {
  api_keys: table({
    rows: 'control',
    key: ['id'],
    columns: {
      tenant_id: text(),
      id: text(),
      /** `oauth`: the login of a client for a person. Its tokens are in `oauth_tokens`. */
      kind: text<'workspace' | 'environment' | 'oauth'>(),
      name: text(),
      admin: number(),
      environment_id: nullable(text()),
      /** The reach of an environment key: the work of its environment, or its sessions too. Null for a workspace key. */
      reach: nullable(text<'work' | 'sessions'>()),
      read_only: number(),
      /** The person or the key that created this key. Null: the operator did. */
      created_by: nullable(text()),
      last_used_at: nullable(text()),
      /** Of a login: the client. */
      client_id: nullable(text()),
      /** Of a login without a member of the workspace behind it: its role there. */
      role: nullable(text<Role>()),
      /** Of a login: a text that is no hash. */
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
