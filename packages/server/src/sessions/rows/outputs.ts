import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type OutputRow = Tables['outputs']

const ofSession = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('outputs')
    .where('outputs.tenant_id', '=', tenant)
    .where('outputs.session_id', '=', session)

/** Those whose file was not deleted. */
const shown = (db: Reads, tenant: string, session: string) =>
  ofSession(db, tenant, session)
    .innerJoin('files', (join) =>
      join
        .onRef('files.tenant_id', '=', 'outputs.tenant_id')
        .onRef('files.id', '=', 'outputs.file_id'),
    )
    .selectAll('files')
    .select('outputs.filename as name')

function outputReads(db: Reads) {
  return {
    /** Those too whose file was deleted. */
    rows: (tenant: string, session: string): Promise<OutputRow[]> =>
      ofSession(db, tenant, session).selectAll().execute(),

    shown: (tenant: string, session: string) =>
      shown(db, tenant, session).orderBy('outputs.filename').execute(),

    async fileOf(tenant: string, session: string, filename: string): Promise<string | undefined> {
      const found = shown(db, tenant, session).where('outputs.filename', '=', filename)
      return (await found.executeTakeFirst())?.id
    },
  }
}

function outputWrites(db: Queries) {
  return {
    /** In the place of what has the name. */
    async put(row: OutputRow): Promise<void> {
      const { file_id, sha256 } = row
      await db
        .insertInto('outputs')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'session_id', 'filename'])
            .doUpdateSet({ file_id, sha256 }),
        )
        .execute()
    },

    async remove(tenant: string, session: string): Promise<void> {
      await db
        .deleteFrom('outputs')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

/** What sessions have published: for each name the file that was made last. */
export const outputStore = storeOf(outputReads, outputWrites)
