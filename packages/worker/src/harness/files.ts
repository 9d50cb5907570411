/**
 * Mounts files that people give to the session, at the same paths as in the service's own sandboxes.
 * [worker/input/files]
 */
import { Readable } from 'node:stream'
import { APIError } from '@anthropic-ai/sdk'
import { mountFiles as mount } from '@steward/space/files/mount.ts'
import { GivenFiles } from '@steward/protocol/inputs.ts'
import type { MountInput } from './input.ts'

export const mountFiles: MountInput = ({ client, session, folder, workdir, isHost }) => {
  const path = `/v1/ext/inputs/${session.id}/files`
  let known: Extract<GivenFiles['files'], unknown[]> = []
  let revision: number | undefined
  const given = {
    async revision() {
      const query = revision === undefined ? {} : { known: revision }
      const found = GivenFiles.parse(await client.get(path, { query }))
      known = found.files ?? known
      return (revision = found.revision)
    },
    files: async () =>
      known.map(({ id, filename, resolved_path, is_told }) => ({
        id,
        filename,
        resolvedPath: resolved_path,
        isTold: is_told,
      })),
    async open(id: string) {
      try {
        const { body } = await client.get(`${path}/${id}`).asResponse()
        return Readable.from(body ?? [])
      } catch (error) {
        if (error instanceof APIError && error.status === 404) return undefined
        throw error
      }
    },
  }
  return mount(given, { folder, workspace: workdir, isHost })
}
