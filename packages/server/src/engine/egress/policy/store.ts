/** Reads in one query whether the session still owns its sandbox, and its credentials. */
import { CompiledQuery } from 'kysely'
import type { Database } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/raw.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { credentialRow } from '../../../resources/vaults/credentials.ts'
import type { RepositoryToken } from './repository.ts'
import { fromJson } from '../../../ground/core/json-text.ts'
import type { Json } from '../../../ground/core/json-text.ts'

export type SessionNow = {
  generation: number
  /** True when the session is archived or deleted. */
  isOver: boolean
  /** Active credentials, ordered by the session's vaults, then by creation. */
  credentials: CredentialRow[]
  /** Repositories that have a token. */
  repositories: RepositoryToken[]
}

/** All credentials that a call may carry. */
export type SessionCredentials = Pick<SessionNow, 'credentials' | 'repositories'>

type SessionCredentialRow = Tables['vault_credentials'] & {
  generation: number
  session_archived_at: string | null
  session_deleted_at: string | null
  vault_ids: Json<string[]>
  /** Null and [] both mean none. */
  repositories: Json<RepositoryToken[]> | null
}

/** The SQL text, built once for each dialect so that it is prepared once. */
const text = {
  sqlite: queryOf(['?', '?'], {
    vaultIds: 'select value from json_each(s.vault_ids)',
    all: 'json_group_array',
    object: 'json_object',
    url: "r.fields ->> '$.url'",
  }),
  postgres: queryOf(['$1', '$2'], {
    vaultIds: 'select jsonb_array_elements_text(s.vault_ids::jsonb)',
    all: 'json_agg',
    object: 'json_build_object',
    url: "r.fields::json ->> 'url'",
  }),
}

function queryOf(
  [tenant, session]: [string, string],
  { vaultIds, all, object, url }: Record<'vaultIds' | 'all' | 'object' | 'url', string>,
): string {
  const repository = `${object}('tenant_id', r.tenant_id, 'id', r.id, 'url', ${url}, 'sealed_token', r.sealed_token)`
  return `select h.generation, s.archived_at as session_archived_at, s.deleted_at as session_deleted_at,
      s.vault_ids, c.*,
      (select cast(${all}(${repository}) as text) from session_resources r
        where r.tenant_id = s.tenant_id and r.session_id = s.id
          and r.type = 'github_repository' and r.sealed_token is not null) as repositories
    from session_heads h
    join sessions s on s.tenant_id = h.tenant_id and s.id = h.session_id
    left join (vault_credentials c join vaults v on v.tenant_id = c.tenant_id and v.id = c.vault_id
        and v.archived_at is null)
      on c.tenant_id = s.tenant_id and c.vault_id in (${vaultIds}) and c.archived_at is null
    where h.tenant_id = ${tenant} and h.session_id = ${session}`
}

export async function sessionNow(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  tenant: string,
  session: string,
): Promise<SessionNow | undefined> {
  const query = CompiledQuery.raw(text[dialect], [tenant, session])
  const rows = await selectRaw<SessionCredentialRow>(read, query)
  const [first] = rows
  if (!first) return undefined
  const order = fromJson(first.vault_ids)
  const place = ({ vault_id }: SessionCredentialRow) => order.indexOf(vault_id)
  return {
    generation: first.generation,
    isOver: first.session_archived_at !== null || first.session_deleted_at !== null,
    credentials: rows
      .filter(({ id }) => id !== null)
      .toSorted((a, b) => place(a) - place(b) || inTime(a, b))
      .flatMap((row) => openRow(row) ?? []),
    repositories: fromJson(first.repositories) ?? [],
  }
}

const openRow = ({ auth, sealed, ...row }: SessionCredentialRow) =>
  credentialRow({ ...row, auth: fromJson(auth), sealed: fromJson(sealed) })

const inTime = (a: SessionCredentialRow, b: SessionCredentialRow): number =>
  a.created_at === b.created_at ? compare(a.id, b.id) : compare(a.created_at, b.created_at)
const compare = (a: string, b: string): number => (a < b ? -1 : 1)
