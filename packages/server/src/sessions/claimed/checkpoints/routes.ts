/**
 * Checkpoints of a session on a worker: the worker that has claimed the session stores them, and the next worker
 * restores them. [worker/checkpoint/asked]
 */
import { Readable } from 'node:stream'
import { limitBytes } from '@steward/base/byte-limit.ts'
import { tooLargeMessage } from '@steward/space/working-folder/checkpoints.ts'
import {
  CheckpointCommit,
  CheckpointDone,
  CheckpointPart,
  CheckpointShown,
  CheckpointUse,
} from '@steward/protocol/checkpoints.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import { UnmarkedBlobError } from '../../../ground/blobs/blob-keeping.ts'
import { checkPendingBlobs } from '../../../ground/blobs/pending-blobs.ts'
import { archivesPrefix, workspaceStore } from '../../../resources/checkpoints/checkpoints.ts'
import { invalid, notFound, PlatformError } from '../../../ground/core/errors.ts'
import type { Database, Queries } from '../../../ground/database/database.ts'
import type { Principal } from '../../../ground/http/principal.ts'
import { requireClaim } from '../../../ground/http/principal.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { checkClaim } from '../../work/claim.ts'

const checkpoints = section('Workers', ['claim'], '/v1/ext/checkpoints/:session_id', 'session')

const archiveType = 'application/zstd'
/** Archive names as `put` creates them. */
const archive = /^chkpt_\w{1,64}$/

type ClaimCall = {
  db: Database
  tenant: string
  principal: Principal
  params: { session_id: string }
}

export function checkpointRoutes(
  deps: Ground & {
    keeping: BlobKeeping
    /** Largest archive, in compressed bytes. */
    checkpointBytes: number
    /** How many checkpoints of a session stay beside its newest. */
    checkpointHistory: number
  },
): Route[] {
  const { clock, checkpointBytes } = deps
  /** Writes only while the claim is current. */
  function storeOf(
    { db, tenant, principal, params }: ClaimCall,
    also: (tx: Queries) => Promise<void> = () => Promise.resolve(),
  ) {
    const claim = requireClaim(principal)
    return workspaceStore(
      db,
      { ...deps, history: deps.checkpointHistory },
      tenant,
      params.session_id,
      async (tx) => {
        await checkClaim(tx, claim, clock.now())
        await also(tx)
      },
    )
  }
  function keyOf({ tenant, params }: ClaimCall, id: string): string {
    if (!archive.test(id)) throw notFound('archive', id)
    return archivesPrefix(tenant, params.session_id) + id
  }
  /** A fork may have archives of another session. */
  async function keptKey(call: ClaimCall, id: string): Promise<string> {
    const own = keyOf(call, id)
    const parts = (await storeOf(call).row())?.parts
    const kept = [parts?.base, parts?.delta].find((part) => part?.key.endsWith(`/${id}`))
    return kept?.key ?? own
  }
  /** The claim check locks the session's head, so that two uploads at once are both counted. */
  async function checkRoom(tx: Queries, { tenant, params }: ClaimCall): Promise<void> {
    await checkPendingBlobs(
      tx,
      { tenant, prefix: archivesPrefix(tenant, params.session_id) },
      clock.now(),
      {
        busy: (most) =>
          `${most} archives of this session were sent that nothing holds: give them up, or wait a day`,
      },
    )
  }

  return [
    checkpoints.get(
      '',
      {
        answer: CheckpointShown,
        summary: 'Get the checkpoint of a session',
        description: 'Says where its working folder is, and which archives there are of it.',
      },
      async (call) => {
        return { checkpoint: (await storeOf(call).row()) ?? null }
      },
    ),
    checkpoints.post(
      '/use',
      {
        body: CheckpointUse,
        answer: CheckpointDone,
        summary: 'Take over the working folder of a session',
        description: 'The caller has the newest working folder from now on.',
      },
      async ({ body: { folder, seen }, ...call }) => ({
        done: await storeOf(call).use(folder, seen ?? undefined),
      }),
    ),
    checkpoints.raw.post(
      '/parts',
      {
        answer: CheckpointPart,
        summary: 'Send an archive of a working folder',
        bytes: {
          type: 'application/octet-stream',
          description: 'The archive: a tar file, compressed by Zstandard.',
        },
        description: 'No checkpoint holds the archive yet.',
      },
      async (call, { body }) => {
        const store = storeOf(call, (tx) => checkRoom(tx, call))
        const tooLarge = () => new PlatformError('too_large', tooLargeMessage(checkpointBytes))
        return store.put(limitBytes(body ?? Readable.from([]), checkpointBytes, tooLarge))
      },
    ),
    checkpoints.get(
      '/parts/:part',
      {
        answer: 'bytes',
        mediaTypes: [archiveType],
        summary: 'Get an archive of a working folder',
      },
      async (call) => {
        const { part } = call.params
        const key = await keptKey(call, part)
        const body = await storeOf(call).open({ key, size: 0, sha256: '' })
        if (!body) throw notFound('archive', part)
        const headers: [string, string][] = [['content-type', archiveType]]
        return { reply: 'raw', status: 200, headers, body, ours: true }
      },
    ),
    checkpoints.delete(
      '/parts/:part',
      {
        answer: CheckpointDone,
        summary: 'Delete an archive that no checkpoint holds',
        description: 'Makes room for others: of one session at most eight such archives are kept.',
      },
      async (call) => {
        await storeOf(call).abandon({ key: keyOf(call, call.params.part), size: 0, sha256: '' })
        return { done: true }
      },
    ),
    checkpoints.post(
      '',
      {
        body: CheckpointCommit,
        answer: CheckpointDone,
        summary: 'Make a checkpoint of the archives that were sent',
        description:
          'Succeeds only while the claim is current and the checkpoint is the one that the worker has seen.',
      },
      async ({ body: { made, seen }, ...call }) => {
        const own = archivesPrefix(call.tenant, call.params.session_id)
        const isKept = ({ key }: { key: string }) =>
          made.delta !== null && key === made.base.key && key === seen.parts?.base.key
        for (const part of [made.base, made.delta])
          if (
            part &&
            !isKept(part) &&
            !(part.key.startsWith(own) && archive.test(part.key.slice(own.length)))
          )
            throw invalid(`made: ${part.key} is no archive of this session`)
        if (made.delta && made.base.key !== seen.parts?.base.key)
          throw invalid('made.delta: its base must be the whole archive of seen.parts')
        try {
          return { done: await storeOf(call).commit(made, seen) }
        } catch (error) {
          if (error instanceof UnmarkedBlobError)
            throw invalid('made: the new archive does not exist; store it again')
          throw error
        }
      },
    ),
  ]
}
