import type { FileMetadata } from '@steward/protocol/files.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { isSessionHeld, unless } from '../../ground/database/holds.ts'

export type FileRow = RowOf<'files'>

/** Raises the session's revision of files, so that its sandbox looks for files again. */
async function changed(db: Queries, { tenant_id, session_id, origin }: FileRow): Promise<void> {
  if (session_id === null || origin === 'output') return
  await db
    .updateTable('sessions')
    .set(({ eb }) => ({ files_revision: eb('files_revision', '+', 1) }))
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', session_id)
    .execute()
}

function fileReads(db: Reads) {
  return {
    list: (
      tenant: string,
      paging: Paging,
      session: string | undefined,
    ): Promise<Listing<FileRow>> =>
      rows(db, 'files').list(tenant, paging, {
        where: (query) => (session === undefined ? query : query.where('session_id', '=', session)),
      }),

    /** The files that exist, in no order. */
    async named(tenant: string, ids: readonly string[]): Promise<FileRow[]> {
      if (ids.length === 0) return []
      return rows(db, 'files').all(tenant, (query) => query.where('id', 'in', ids))
    },

    /** All files in the session's sandbox, the oldest first, except those without bytes. */
    ofSession: (tenant: string, session: string): Promise<FileRow[]> =>
      rows(db, 'files').all(tenant, (query) =>
        query
          .where('session_id', '=', session)
          .where('origin', '!=', 'output')
          .where('blob_key', 'is not', null)
          .orderBy('created_at')
          .orderBy('id'),
      ),

    /** Includes expired files. */
    allOfSession: (tenant: string, session: string): Promise<FileRow[]> =>
      rows(db, 'files').all(tenant, (query) => query.where('session_id', '=', session)),

    /** Expired files of all tenants that still have bytes. */
    expired: (now: number, limit: number): Promise<FileRow[]> =>
      db
        .selectFrom('files')
        .selectAll()
        .where('expires_at', '<=', iso(now))
        .where('blob_key', 'is not', null)
        .where(unless(isSessionHeld('files.tenant_id', 'files.session_id')))
        .orderBy('expires_at')
        .limit(limit)
        .execute(),
  }
}

function fileWrites(db: Queries) {
  return {
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

    /** Deletes rows of files, of all tenants, that expired before the time and have no bytes. */
    async removeExpired(before: number): Promise<void> {
      await db
        .deleteFrom('files')
        .where('expires_at', '<=', iso(before))
        .where('blob_key', 'is', null)
        .execute()
    },
  }
}

/** Files without their bytes. The row of a file and the mark of its blob are written and removed together. */
export const fileStore = defineStore(fileReads, fileWrites)

/** True when a file uses this blob. */
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
