/** What lies in a session's sandbox by its rows, and the bytes of it. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { fileStore, isExpired } from '../files/store.ts'
import { resourceStore } from '../sessions/resources/store.ts'
import { sessionStore } from '../sessions/store.ts'
import type { UploadDeps } from './furnish.ts'

export function givenFiles({
  databases,
  blobs,
  clock,
}: {
  databases: Databases
  blobs: Blobs
  clock: Clock
}): Pick<UploadDeps, 'revision' | 'files' | 'open'> {
  const readOf = (tenant: string) => databases.of(tenant).read
  return {
    revision: (tenant, session) => sessionStore(readOf(tenant)).filesRevision(tenant, session),
    async files(tenant, session) {
      const read = readOf(tenant)
      const [rows, resources, { created_at }] = await Promise.all([
        fileStore(read).ofSession(tenant, session),
        resourceStore(read).ofSessions(tenant, [session]),
        sessionStore(read).row(tenant, session),
      ])
      const byFile = new Map((resources.get(session) ?? []).map((each) => [each.file_id, each]))
      return rows.flatMap((row) => {
        const resource = byFile.get(row.id)
        // Between the two reads its resource came or went: the revision says so at the next look.
        const { id, filename, blob_key: key } = row
        if (isExpired(row, clock.now()) || key === null || (row.origin === 'copy' && !resource))
          return []
        const isTold = resource?.created_at === created_at
        return [{ id, key, filename, mountPath: resource?.mount_path ?? null, isTold }]
      })
    },
    async open(tenant, { id, key }) {
      const found = await blobs.get(key)
      if (found) return found.body
      const [row] = await fileStore(readOf(tenant)).named(tenant, [id])
      if (row?.blob_key === key) throw new Error(`the bytes of file ${id} are missing`)
      return undefined
    },
  }
}
