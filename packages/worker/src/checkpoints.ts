/**
 * Checkpoints of working folders, stored in the service under the claim, so that another machine can continue the
 * session.
 */
import { Readable } from 'node:stream'
import { canConfine } from '@steward/space/working-folder/confine-command.ts'
import type { Arrival, SessionCheckpoints } from '@steward/space/working-folder/checkpoints.ts'
import {
  prepareFiles,
  folderId,
  storeCheckpoint,
} from '@steward/space/working-folder/checkpoints.ts'
import { CheckpointDone, CheckpointPart, CheckpointShown } from '@steward/protocol/checkpoints.ts'
import type { ClaimClient } from './service.ts'

export type CheckpointFolders = {
  session: string
  /** `own`: the session's folder on this machine. `folder`: the folder of all sessions. */
  own: string
  folder: string
}

const unconfined =
  'bubblewrap does not work here, in which alone a workspace is packed and unpacked. To mend it: apt-get install bubblewrap'

/**
 * Restores the checkpoint before a harness starts. Throws when the checkpoint is corrupt, or cannot be restored here.
 */
export async function restoreCheckpoint(
  claim: ClaimClient,
  where: CheckpointFolders,
): Promise<Arrival> {
  const store = storeOf(claim, where.session)
  const open: SessionCheckpoints['open'] = async (part) => {
    if (await canConfine()) return store.open(part)
    throw new Error(unconfined)
  }
  return prepareFiles({ ...store, open }, await foldersOf(where))
}

/** Stores a checkpoint after the harness has ended, while the claim is current. */
export async function saveCheckpoint(claim: ClaimClient, where: CheckpointFolders): Promise<void> {
  if (!(await canConfine())) throw new Error(unconfined)
  await storeCheckpoint(storeOf(claim, where.session), await foldersOf(where))
}

/** The service limits the size of a checkpoint. */
const foldersOf = async ({ session, own, folder }: CheckpointFolders) => ({
  session,
  own,
  largest: Infinity,
  here: await folderId(folder),
})

function storeOf({ ask }: ClaimClient, session: string): SessionCheckpoints {
  const path = `/v1/ext/checkpoints/${session}`
  const partAt = (key: string) => `${path}/parts/${key.split('/').at(-1)}`
  const post = async (to: string, body: object) =>
    CheckpointDone.parse(await (await ask('POST', to, JSON.stringify(body))).json()).done
  return {
    async row() {
      const { checkpoint } = CheckpointShown.parse(await (await ask('GET', path)).json())
      return checkpoint ?? undefined
    },
    use: (folder, seen) => post(`${path}/use`, { folder, seen: seen ?? null }),
    async open({ key }) {
      const answer = await ask('GET', partAt(key), undefined, [404])
      return answer.status === 404 ? undefined : (answer.body ?? Readable.from([]))
    },
    put: async (body) =>
      CheckpointPart.parse(await (await ask('POST', `${path}/parts`, body)).json()),
    commit: (made, seen) => post(path, { made, seen }),
    async abandon({ key }) {
      await (await ask('DELETE', partAt(key))).body?.cancel()
    },
  }
}
