import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { mediaTypeOf } from '../../resources/files/media-types.ts'
import type { FileRow } from '../../resources/files/store.ts'

export type OutputRow = Tables['outputs']

/** A published file whose bytes are kept; `now` in milliseconds. */
export type KeptOutput = {
  tenant: string
  id: string
  session: string
  name: string
  key: string
  size: number
  sha256: string
  now: number
}

/** The row of an output among the workspace's files. */
export const outputFile = ({ tenant, id, session, name, now, ...kept }: KeptOutput): FileRow => ({
  tenant_id: tenant,
  id,
  session_id: session,
  origin: 'output',
  filename: name,
  mime_type: mediaTypeOf(name),
  size_bytes: kept.size,
  sha256: kept.sha256,
  blob_key: kept.key,
  downloadable: 1,
  expires_at: null,
  created_at: iso(now),
})

const ofSession = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('outputs')
    .where('outputs.tenant_id', '=', tenant)
    .where('outputs.session_id', '=', session)

/** Outputs whose file was not deleted. */
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
    /** Outputs, also those whose file was deleted. */
    rows: (tenant: string, session: string): Promise<OutputRow[]> =>
      ofSession(db, tenant, session).selectAll().execute(),

    shown: (tenant: string, session: string) =>
      shown(db, tenant, session).orderBy('outputs.filename').execute(),

    /** The path of the outputs in the session's sandbox; null for the usual one. */
    async path(tenant: string, session: string): Promise<string | null> {
      const found = db
        .selectFrom('sessions')
        .select('outputs_path')
        .where('tenant_id', '=', tenant)
        .where('id', '=', session)
      return (await found.executeTakeFirst())?.outputs_path ?? null
    },

    async fileOf(tenant: string, session: string, filename: string): Promise<string | undefined> {
      const found = shown(db, tenant, session).where('outputs.filename', '=', filename)
      return (await found.executeTakeFirst())?.id
    },
  }
}

function outputWrites(db: Queries) {
  return {
    /** Replaces the output of the same name. */
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

/** Published outputs of sessions: for each name the newest file. */
export const outputStore = defineStore(outputReads, outputWrites)
