import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import { forbidden, notFound } from '../core/errors.ts'
import type { Connection, Queries } from './database.ts'
import { dialectOf } from './dialect.ts'
import type { Tables } from './tables.ts'

/**
 * Locks the rows against changes until the transaction ends; other transactions may lock them as well. Postgres would
 * otherwise let another transaction delete a row that was just checked. SQLite has one writer and needs no lock.
 */
export function forShare<Table extends keyof Tables, Row>(
  tx: Connection,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forShare() : query
}

/** Reads the newest state of the rows, and locks them for this transaction alone. */
export function forUpdate<Table extends keyof Tables, Row>(
  tx: Connection,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forUpdate() : query
}

/**
 * Throws `not_found` for a deleted workspace. Nobody archives or deletes the workspace until the transaction ends.
 */
export async function getWorkspaceForShare(
  tx: Connection,
  id: string,
): Promise<{ archived_at: string | null }> {
  const row = tx
    .selectFrom('workspaces')
    .select('archived_at')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
  const found = await forShare(tx, row).executeTakeFirst()
  if (!found) throw notFound('workspace', id)
  return found
}

/** Like `getWorkspaceForShare`. Throws `forbidden` for an archived workspace too. */
export async function getOpenWorkspaceForShare(tx: Queries, id: string): Promise<void> {
  const { archived_at } = await getWorkspaceForShare(tx, id)
  if (archived_at !== null)
    throw forbidden('the workspace is archived: have it unarchived first', 'workspace_archived')
}

/** Throws `not_found` for a deleted person. Nobody deletes the person until the transaction ends. */
export async function getPersonForShare(tx: Queries, id: string): Promise<void> {
  const row = tx.selectFrom('people').select('id').where('id', '=', id)
  if (!(await forShare(tx, row).executeTakeFirst())) throw notFound('person', id)
}

/** The role of a member; undefined for others. Nobody changes the role until the transaction ends. */
export async function findRoleForShare(tx: Queries, tenant: string, person: string) {
  const member = tx
    .selectFrom('members')
    .select('role')
    .where('tenant_id', '=', tenant)
    .where('person_id', '=', person)
  return (await forShare(tx, member).executeTakeFirst())?.role
}

/** Like `forUpdate`, without rows that another transaction has locked. */
export function forUpdateSkippingLocked<Table extends keyof Tables, Row>(
  tx: Connection,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return isPostgres(tx) ? query.forUpdate().skipLocked() : query
}

/** Waits for other transactions that hold the lock `what`. Guards sums over rows that other transactions add. */
export async function lockAdvisory(tx: Queries, what: string): Promise<void> {
  if (!isPostgres(tx)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(tx)
}

/** Like `lockAdvisory`, beside others that hold the lock so. Waits for one that holds it alone. */
export async function lockAdvisoryShared(tx: Queries, what: string): Promise<void> {
  if (!isPostgres(tx)) return
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${what}, 0))`.execute(tx)
}

const isPostgres = (tx: Connection): boolean => dialectOf(tx) === 'postgres'
