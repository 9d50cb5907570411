import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { notFound } from '../core/errors.ts'
import type { Queries } from './database.ts'
import { dialectOf } from './dialect.ts'
import type { Tables } from './tables.ts'

/**
 * What the query reads stays as it is until the transaction ends. SQLite has one writer and no word for it; Postgres
 * would let another transaction delete a row that was just checked.
 */
export function lockShared<Table extends keyof Tables, Row>(
  tx: Queries,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forShare() : query
}

/** The newest form of what the query reads, and no other writer of it until the transaction ends. */
export function lockForUpdate<Table extends keyof Tables, Row>(
  tx: Queries,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forUpdate() : query
}

/** Throws for a workspace that is deleted; it is not deleted until the transaction ends. */
export async function lockWorkspace(tx: Queries, id: string): Promise<void> {
  const row = tx
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
  if (!(await lockShared(tx, row).executeTakeFirst())) throw notFound('workspace', id)
}

/** Throws for a person who was deleted; the person is not deleted until the transaction ends. */
export async function lockPerson(tx: Queries, id: string): Promise<void> {
  const row = tx.selectFrom('people').select('id').where('id', '=', id)
  if (!(await lockShared(tx, row).executeTakeFirst())) throw notFound('person', id)
}

/** The role of a member; nobody changes it until the transaction ends. */
export async function lockRole(tx: Queries, tenant: string, person: string) {
  const member = tx
    .selectFrom('members')
    .select('role')
    .where('tenant_id', '=', tenant)
    .where('person_id', '=', person)
  return (await lockShared(tx, member).executeTakeFirst())?.role
}

/** As `taking`, without what another transaction has taken. */
export function lockSkippingLocked<Table extends keyof Tables, Row>(
  tx: Queries,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forUpdate().skipLocked() : query
}

/** No other transaction that asks for the same goes on until this one ends: for sums of rows that others add to. */
export async function lockAdvisory(tx: Queries, what: string): Promise<void> {
  if (!isPostgres(tx)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(tx)
}

const isPostgres = (tx: Queries): boolean => dialectOf(tx) === 'postgres'
