/** The files in a session's sandbox, by their rows, and their bytes. */
import type { FileSource } from '@steward/space/files/mount.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { fileStore, isExpired } from '../../resources/files/store.ts'
import { ofType, resourceStore } from '../rows/resources.ts'
import { sessionStore } from '../rows/sessions.ts'

export function givenFiles(
  { read }: Pick<Database, 'read'>,
  { blobs, clock }: { blobs: Blobs; clock: Clock },
  tenant: string,
  session: string,
): FileSource {
  return {
    revision: () => sessionStore(read).filesRevision(tenant, session),
    async files() {
      const [rows, resources, { created_at }] = await Promise.all([
        fileStore(read).ofSession(tenant, session),
        resourceStore(read).ofSession(tenant, session),
        sessionStore(read).row(tenant, session),
      ])
      const byFile = new Map(ofType(resources, 'file').map((each) => [each.fields.file_id, each]))
      return rows.flatMap((row) => {
        const resource = byFile.get(row.id)
        // The resource was added or removed between the two reads. The revision shows that at the next look.
        const { id, filename } = row
        if (isExpired(row, clock.now()) || row.blob_key === null) return []
        if (row.origin === 'copy' && !resource) return []
        const isTold = resource?.created_at === created_at
        return [{ id, filename, resolvedPath: resource?.resolved_path ?? null, isTold }]
      })
    },
    async open(id) {
      for (;;) {
        const [row] = await fileStore(read).named(tenant, [id])
        if (row?.session_id !== session || row.blob_key === null) return undefined
        const found = await blobs.get(row.blob_key)
        if (found) return found.body
        const [now] = await fileStore(read).named(tenant, [id])
        if (now?.blob_key === row.blob_key) throw new Error(`the bytes of file ${id} are missing`)
      }
    },
  }
}
