import type { FileMetadata } from '@steward/protocol/files.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { alone } from '../../ground/database/lock.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'

export type FileRow = RowOf<'files'>

/** Its sandbox looks again for what lies there. */
async function changed(db: Queries, { tenant_id, session_id, origin }: FileRow): Promise<void> {
  if (session_id === null || origin === 'output') return
  await db
    .updateTable('sessions')
    .set(({ eb }) => ({ files_revision: eb('files_revision', '+', 1) }))
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', session_id)
    .execute()
}

/** Bytes that count against the workspace: those of each blob once, whoever holds it. */
async function stored(db: Reads, tenant: string): Promise<number> {
  const each = db
    .selectFrom('files')
    .select(({ fn }) => fn.max('size_bytes').as('bytes'))
    .where('tenant_id', '=', tenant)
    .where('blob_key', 'is not', null)
    .groupBy('blob_key')
  const { bytes } = await db
    .selectFrom(each.as('blobs'))
    .select(({ fn }) => fn.sum<string | number | null>('bytes').as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

function fileReads(db: Reads) {
  return {
    row: (tenant: string, id: string) => rows(db, 'files').get(tenant, id),

    list: (
      tenant: string,
      paging: Paging,
      session: string | undefined,
    ): Promise<Listing<FileRow>> =>
      rows(db, 'files').list(tenant, paging, {
        where: (query) => (session === undefined ? query : query.where('session_id', '=', session)),
      }),

    /** Those that are there, in no order. */
    async named(tenant: string, ids: readonly string[]): Promise<FileRow[]> {
      if (ids.length === 0) return []
      return rows(db, 'files').all(tenant, (query) => query.where('id', 'in', ids))
    },

    /** All that lie in the session's sandbox, the oldest first, without those whose bytes are gone. */
    ofSession: (tenant: string, session: string): Promise<FileRow[]> =>
      rows(db, 'files').all(tenant, (query) =>
        query
          .where('session_id', '=', session)
          .where('origin', '!=', 'output')
          .where('blob_key', 'is not', null)
          .orderBy('created_at')
          .orderBy('id'),
      ),

    /** Expired ones too. */
    allOfSession: (tenant: string, session: string): Promise<FileRow[]> =>
      rows(db, 'files').all(tenant, (query) => query.where('session_id', '=', session)),

    stored: (tenant: string) => stored(db, tenant),

    /** Of all tenants: past their time, and their bytes still there. */
    expired: (now: number, limit: number): Promise<FileRow[]> =>
      db
        .selectFrom('files')
        .selectAll()
        .where('expires_at', '<=', iso(now))
        .where('blob_key', 'is not', null)
        .orderBy('expires_at')
        .limit(limit)
        .execute(),
  }
}

function fileWrites(db: Queries) {
  return {
    /** As `row`, and it stays as it is until the transaction ends. */
    hold: (tenant: string, id: string) => rows(db, 'files').hold(tenant, id),
    /** As `row`, and nobody else changes it until the transaction ends. */
    take: (tenant: string, id: string) => rows(db, 'files').take(tenant, id),
    /** The same, and nobody else adds to it until the transaction ends. */
    async storedAlone(tenant: string): Promise<number> {
      await alone(db, `files/${tenant}`)
      return stored(db, tenant)
    },

    async insert(file: FileRow): Promise<void> {
      await changed(db, await rows(db, 'files').insert(file))
    },

    async remove(file: FileRow): Promise<void> {
      await rows(db, 'files').remove(file.tenant_id, file.id)
      await changed(db, file)
    },

    async forgetBytes(file: FileRow): Promise<void> {
      await changed(db, await rows(db, 'files').update(file, { blob_key: null }))
    },

    /** Of all tenants: those that expired before the time and have no bytes any more. */
    async removeExpired(before: number): Promise<void> {
      await db
        .deleteFrom('files')
        .where('expires_at', '<=', iso(before))
        .where('blob_key', 'is', null)
        .execute()
    },
  }
}

/** Files without their bytes. A row that holds a blob is written and removed together with the blob's mark. */
export const fileStore = storeOf(fileReads, fileWrites)

/** Whether a file's bytes are this blob. */
export async function heldByFile(tx: Queries, tenant: string, key: string): Promise<boolean> {
  const holder = tx
    .selectFrom('files')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('blob_key', '=', key)
    .limit(1)
  return (await holder.executeTakeFirst()) !== undefined
}

export const isExpired = ({ expires_at }: FileRow, now: number): boolean =>
  expires_at !== null && expires_at <= iso(now)

export const showFile = (row: FileRow): FileMetadata => ({
  id: row.id,
  type: 'file',
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  created_at: row.created_at,
  downloadable: row.downloadable === 1,
  expires_at: row.expires_at,
  scope: row.session_id === null ? null : { type: 'session', id: row.session_id },
})
