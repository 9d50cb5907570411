/** Mounts the skills of the session's agent below `skills` in the working folder. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setupSkills } from '@anthropic-ai/sdk/tools/agent-toolset/node'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import type { MountInput } from './input.ts'

const path = '/opt/steward-skills'
const layOutWithinMs = 60_000

export const mountSkills: MountInput = async ({ client, session, folder: own, isHost }) => {
  if (session.agent.skills.length === 0) return {}
  const folder = join(own, 'skills')
  const source = join(folder, 'skills')
  // An earlier sandbox may have written to the folder, so it is removed and not reused.
  await removeTree(folder)
  await mkdir(source, { recursive: true })
  await setupSkills({ workdir: folder, client, session })
  return {
    mounts: isHost ? [] : [{ source, path, access: 'write' }],
    async started(sandbox) {
      const command = `rm -rf skills && mkdir skills && cp -R '${isHost ? source : path}/.' skills/`
      const { output, exitCode } = await sandbox.shell({ command, timeoutMs: layOutWithinMs })
      if (exitCode !== 0) throw new Error(`the skills were not mounted: ${output.trim()}`)
    },
  }
}
