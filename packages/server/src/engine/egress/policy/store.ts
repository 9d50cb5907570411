/** Reads in one query whether the session still owns its sandbox, and its credentials. */
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { dialectOf } from '../../../ground/database/dialect.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { selectStatement } from '../../../ground/database/statement.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { RepositoryToken } from './repository.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Json } from '../../../ground/core/text/json-text.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

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

/** JSON functions that differ between the databases. */
const json = {
  sqlite: {
    elements: sql`select value from json_each(s.vault_ids)`,
    all: 'json_group_array',
    object: 'json_object',
    url: sql`r.fields ->> '$.url'`,
  },
  postgres: {
    elements: sql`select jsonb_array_elements_text(s.vault_ids::jsonb)`,
    all: 'json_agg',
    object: 'json_build_object',
    url: sql`r.fields::json ->> 'url'`,
  },
}

/** One row for each credential; one row without a credential where there is none. */
const sessionStatement = selectStatement((db, slot: SlotFor<SessionRef>) => {
  const { elements, all, object, url } = json[dialectOf(db as Queries)]
  const part = (name: string) => sql`${sql.lit(name)}, ${sql.ref(`r.${name}`)}`
  const repository = sql`${sql.raw(object)}(${sql.join([
    ...['tenant_id', 'id', 'sealed_token'].map(part),
    sql`'url', ${url}`,
  ])})`
  return db
    .selectFrom('session_heads as h')
    .innerJoin('sessions as s', (on) =>
      on.onRef('s.tenant_id', '=', 'h.tenant_id').onRef('s.id', '=', 'h.session_id'),
    )
    .leftJoin('vault_credentials as c', (on) =>
      on
        .onRef('c.tenant_id', '=', 's.tenant_id')
        .on(sql<boolean>`c.vault_id in (${elements})`)
        .on('c.archived_at', 'is', null),
    )
    .leftJoin('vaults as v', (on) =>
      on
        .onRef('v.tenant_id', '=', 'c.tenant_id')
        .onRef('v.id', '=', 'c.vault_id')
        .on('v.archived_at', 'is', null),
    )
    .select(['h.generation', 's.vault_ids', 's.archived_at', 's.deleted_at'])
    .select(['c.tenant_id', 'c.vault_id', 'c.id', 'c.revision', 'c.auth', 'c.sealed'])
    .select(['c.created_at', 'v.id as active_vault'])
    .select((eb) =>
      eb
        .selectFrom('session_resources as r')
        .select(
          sql<Json<RepositoryToken[]> | null>`cast(${sql.raw(all)}(${repository}) as text)`.as(
            'all',
          ),
        )
        .whereRef('r.tenant_id', '=', 's.tenant_id')
        .whereRef('r.session_id', '=', 's.id')
        .where('r.type', '=', 'github_repository')
        .where('r.sealed_token', 'is not', null)
        .as('repositories'),
    )
    .where(
      'h.tenant_id',
      '=',
      slot(({ tenant }) => tenant),
    )
    .where(
      'h.session_id',
      '=',
      slot(({ session }) => session),
    )
})

type SessionCredentialRow = Awaited<ReturnType<typeof sessionStatement>>[number]

/** Undefined when the session does not exist. */
export async function sessionNow(
  read: Reads,
  tenant: string,
  session: string,
): Promise<SessionNow | undefined> {
  const rows = await sessionStatement(read, { tenant, session })
  const [first] = rows
  if (!first) return undefined
  const order = fromJson(first.vault_ids)
  const rank = ({ vault_id }: SessionCredentialRow) => order.indexOf(vault_id ?? '')
  return {
    generation: first.generation,
    isOver: first.archived_at !== null || first.deleted_at !== null,
    credentials: rows
      .toSorted((a, b) => rank(a) - rank(b) || inTime(a, b))
      .flatMap((row) => credentialOf(row) ?? []),
    repositories: fromJson(first.repositories) ?? [],
  }
}

/** Active credentials of these vaults, in their order, then by creation. */
export async function loadCredentials(
  read: Reads,
  tenant: string,
  vaults: readonly string[],
): Promise<CredentialRow[]> {
  if (vaults.length === 0) return []
  const rows = await read
    .selectFrom('vault_credentials as c')
    .innerJoin('vaults as v', (on) =>
      on
        .onRef('v.tenant_id', '=', 'c.tenant_id')
        .onRef('v.id', '=', 'c.vault_id')
        .on('v.archived_at', 'is', null),
    )
    .select(['c.tenant_id', 'c.vault_id', 'c.id', 'c.revision', 'c.auth', 'c.sealed'])
    .select(['c.created_at', 'v.id as active_vault'])
    .where('c.tenant_id', '=', tenant)
    .where('c.vault_id', 'in', vaults)
    .where('c.archived_at', 'is', null)
    .execute()
  const rank = ({ vault_id }: { vault_id: string }) => vaults.indexOf(vault_id)
  return rows
    .toSorted((a, b) => rank(a) - rank(b) || inTime(a, b))
    .flatMap((row) => credentialOf(row) ?? [])
}

type ReadCredential = Pick<
  SessionCredentialRow,
  'tenant_id' | 'vault_id' | 'id' | 'revision' | 'auth' | 'sealed' | 'active_vault'
>

function credentialOf(row: ReadCredential): CredentialRow | undefined {
  const { tenant_id, vault_id, id, revision, auth, sealed, active_vault } = row
  if (tenant_id === null || vault_id === null || id === null || revision === null) return undefined
  if (auth === null || sealed === null || active_vault === null) return undefined
  return { tenant_id, vault_id, id, revision, auth: fromJson(auth), sealed: fromJson(sealed) }
}

type InTime = Pick<SessionCredentialRow, 'created_at' | 'id'>
const inTime = (a: InTime, b: InTime): number =>
  compare(a.created_at ?? '', b.created_at ?? '') || compare(a.id ?? '', b.id ?? '')
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
