/**
 * Inputs of the lane `ama_worker`. The official worker mounts most inputs itself; files are mounted before it starts.
 * [worker/lane/ama-worker]
 */
import Anthropic from '@anthropic-ai/sdk'
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import { mountKinds } from '@steward/space/mounted-kinds.ts'
import { mountFiles } from '../harness/files.ts'
import { mountUserFolder } from '../harness/user-folder.ts'
import type { SessionFolders } from '../folders.ts'

const supportedTypes = ['file', 'memory_store']

/** Throws an error that names the resource when it is not supported here. No sandbox is started then. */
export async function officialInputs(
  { baseUrl, session: id, token }: { baseUrl: string; session: string; token: string },
  folders: SessionFolders,
  isHost: boolean,
): Promise<MountedKinds> {
  const client = new Anthropic({ baseURL: baseUrl, apiKey: null, authToken: token })
  const session = await client.beta.sessions.retrieve(id)
  const other = session.resources.find(({ type }) => !supportedTypes.includes(type))
  if (other)
    throw new Error(
      `the lane ama_worker mounts no ${other.type}: session ${id} needs a worker of lane openma_supervised`,
    )
  const { inputs: folder, workspace: workdir, user } = folders
  const own = { client, session, folder, workdir, user, isKnown: false, isHost }
  return mountKinds([mountFiles, mountUserFolder], own)
}
