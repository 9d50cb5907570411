/** Publishes an output file that a worker uploads. */
import { limitBytes } from '@steward/base/byte-limit.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { checkPendingBlobs } from '../../ground/blobs/pending-blobs.ts'
import { invalid, PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { FileRow } from '../../resources/files/store.ts'
import { fileStore } from '../../resources/files/store.ts'
import type { CheckRoom } from '../../tenants/limits/quotas.ts'
import type { ClaimPrincipal } from '../../ground/http/principal.ts'
import type { Ground } from '../../ground/ground.ts'
import { checkClaim, checkWritingClaim } from '../work/claim.ts'
import { sessionStore } from '../rows/sessions.ts'
import { mostNames, nameObjection } from './limits.ts'
import { outputFile, outputStore } from '../rows/outputs.ts'
import type { Limits } from '../../tenants/limits/limits.ts'

export type TakeDeps = Ground & {
  keeping: BlobKeeping
  /** Bytes of one file. */
  fileLimits: { largest: number }
  limits: Limits
}

/** Publishes nothing when the content equals the last published content. */
export async function takeOutput(
  deps: TakeDeps,
  db: Database,
  claim: ClaimPrincipal,
  name: string,
  body: AsyncIterable<Uint8Array>,
): Promise<{ sha256: string }> {
  const { keeping, clock, fileLimits } = deps
  const { tenant, sessionId: session } = claim
  const unfit = nameObjection(name)
  if (unfit !== undefined) throw invalid(`filename: ${unfit}`)
  const id = newId('file')
  const prefix = `files/${tenant}/${session}/`
  const key = prefix + id
  /** The claim check locks the session's head. */
  const checkRoom = async (tx: Queries): Promise<void> => {
    await checkClaim(tx, claim, clock.now())
    const busy = (most: number) => `${most} files of this session are under way`
    await checkPendingBlobs(tx, { tenant, prefix }, clock.now(), { busy })
  }
  const { largest } = fileLimits
  const tooLarge = () => new PlatformError('too_large', `the file is larger than ${largest} bytes`)
  const bytes = limitBytes(body, largest, tooLarge)
  const { size, sha256 } = await keeping.put(tenant, key, bytes, checkRoom)
  const row = outputFile({ tenant, id, session, name, key, size, sha256, now: clock.now() })
  let isKept = false
  try {
    const checkRoom = await deps.limits.quotas.room(tenant, 'stored_bytes')
    isKept = await db.write((tx) => publish(tx, { ...deps, checkRoom }, claim, row))
  } finally {
    if (!isKept) await keeping.abandon(tenant, key)
  }
  return { sha256 }
}

async function publish(
  tx: Queries,
  { keeping, clock, checkRoom }: TakeDeps & { checkRoom: CheckRoom },
  claim: ClaimPrincipal,
  row: FileRow,
): Promise<boolean> {
  const { tenant, sessionId: session } = claim
  const { filename, id: file_id, sha256, size_bytes: size } = row
  await sessionStore(tx).getForUpdate(tenant, session)
  await checkWritingClaim(tx, claim, clock.now())
  const outputs = outputStore(tx)
  const rows = await outputs.rows(tenant, session)
  const last = rows.find((each) => each.filename === filename)
  if (last?.sha256 === sha256) return false
  if (!last && rows.length >= mostNames)
    throw invalid(`filename: a session publishes at most ${mostNames} names`)
  await checkRoom(tx, size)
  await keeping.hold(tx, tenant, row.blob_key ?? '')
  await fileStore(tx).insert(row)
  await outputs.put({ tenant_id: tenant, session_id: session, filename, file_id, sha256 })
  return true
}
