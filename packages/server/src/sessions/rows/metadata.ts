/** The pairs of sessions' metadata as rows, so that an index finds sessions by a pair. */
import type { Queries, Reads } from '../../ground/database/database.ts'
import { insertRows } from '../../ground/database/statement.ts'

type SessionKey = { tenant_id: string; session_id: string }

export async function putMetadata(
  tx: Queries,
  ref: SessionKey,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  const pairs = Object.entries(metadata).flatMap(([key, value]) =>
    isQueryable(key + value) ? { ...ref, key, value } : [],
  )
  await insertRows(tx, 'session_metadata', pairs)
}

export async function removeMetadata(tx: Queries, ref: SessionKey): Promise<void> {
  await tx
    .deleteFrom('session_metadata')
    .where((eb) => eb.and(ref))
    .execute()
}

/** A text with a NUL character or half of a surrogate pair matches no stored value, and a query must not contain it. */
const isQueryable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Ids of sessions whose metadata has the pair. */
export const sessionsWith = (db: Reads, tenant: string, [key, value]: readonly [string, string]) =>
  db
    .selectFrom('session_metadata')
    .select('session_id')
    .where('tenant_id', '=', tenant)
    .where('key', '=', key)
    .where('value', '=', value)
