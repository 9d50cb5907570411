import type { CompiledQuery, RawBuilder } from 'kysely'
import type { Connection, Reads } from './database.ts'

const selects = /^\s*(?:select|with)\b/i
const writes = /\b(?:insert|update|delete|merge|truncate|create|alter|drop)\b/i

/** Runs a select that the query builder cannot express. Throws for a statement that may write. */
export async function selectRaw<Row>(
  db: Reads,
  query: RawBuilder<Row> | CompiledQuery,
): Promise<Row[]> {
  // The type of a reading connection has no raw statements, because they may write. This one is checked below.
  const connection = db as Connection
  const compiled = 'compile' in query ? query.compile(connection) : query
  if (!selects.test(compiled.sql) || writes.test(compiled.sql))
    throw new Error(`a reading connection runs selects alone, and no ${compiled.sql}`)
  return (await connection.executeQuery<Row>(compiled)).rows
}
