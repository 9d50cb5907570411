import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { chainColumns } from './audit.ts'
import { json, long, nullable, number, sealedJson, table, text } from '../table.ts'

/** A part of a credential that may be secret. Each is sealed by itself, so that one can be replaced without another. */
export type SecretPart =
  | 'token'
  | 'access_token'
  | 'refresh_token'
  | 'client_secret'
  | 'secret_value'
export type SealedSecrets = Partial<Record<SecretPart, Sealed>>

export const vaultTables = {
  vaults: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'vault',
    columns: {
      tenant_id: text(),
      id: text(),
      name: long(text()),
      metadata: long(json<Record<string, string>>()),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  vault_credentials: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'credential',
    lease: { owner: 'refresh_owner', expires: 'refresh_until_ms' },
    columns: {
      tenant_id: text(),
      id: text(),
      vault_id: text(),
      display_name: nullable(long(text())),
      metadata: long(json<Record<string, string>>()),
      /** The kind and the destination of the credential, without secrets. */
      auth: long(json<CredentialAuth>()),
      /** The secret parts by name, each sealed by itself. Null once the credential is archived. */
      sealed: nullable(long(sealedJson<SealedSecrets>())),
      /** The destination as one text, unique among the active credentials of a vault. */
      binding: long(text()),
      /** Grows with every change of `auth` or `sealed`. */
      revision: number(),
      /** The process that refreshes the credential, and until when it may. */
      refresh_owner: nullable(text()),
      refresh_until_ms: number(),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  credential_uses: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      session_id: text(),
      vault_id: nullable(text()),
      credential_id: nullable(text()),
      caller: text(),
      server: text(),
      host: text(),
      method: text(),
      status: nullable(number()),
      refreshed: number(),
      ms: nullable(number()),
      created_at: text(),
      ...chainColumns,
    },
  }),
  /** What was read from secret managers. */
  secret_reads: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      /** Null where a reference was tried before it was stored. */
      session_id: nullable(text()),
      vault_id: nullable(text()),
      credential_id: nullable(text()),
      /** The key or person that had a reference tried. */
      actor_id: nullable(text()),
      manager: text(),
      name: text(),
      field: nullable(text()),
      version: nullable(text()),
      /** `read`, or why nothing was. */
      result: text(),
      created_at: text(),
      ...chainColumns,
    },
  }),
  credential_changes: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      vault_id: nullable(text()),
      credential_id: nullable(text()),
      model_card_id: nullable(text()),
      change: text(),
      api_key_id: nullable(text()),
      session_id: nullable(text()),
      created_at: text(),
      ...chainColumns,
    },
  }),
}
