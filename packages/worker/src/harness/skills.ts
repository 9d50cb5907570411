/** Skills of the session's agent, below `skills` in its workspace. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setupSkills } from '@anthropic-ai/sdk/tools/agent-toolset/node'
import type { Input } from './input.ts'

const path = '/opt/steward-skills'
const layOutWithinMs = 60_000

export const furnishSkills: Input = async ({ client, session, isHost }) => {
  if (session.agent.skills.length === 0) return {}
  // Never below the workspace: what the session has written there is followed by nobody outside of its sandbox.
  const folder = await mkdtemp(join(tmpdir(), 'steward-skills-'))
  const source = join(folder, 'skills')
  await mkdir(source)
  await setupSkills({ workdir: folder, client, session })
  return {
    mounts: isHost ? [] : [{ source, path, access: 'write' }],
    async started(sandbox) {
      const command = `rm -rf skills && mkdir skills && cp -R '${isHost ? source : path}/.' skills/`
      const { output, exitCode } = await sandbox.shell({ command, timeoutMs: layOutWithinMs })
      if (exitCode !== 0) throw new Error(`the skills were not laid out: ${output.trim()}`)
    },
    ended: () => rm(folder, { recursive: true, force: true }),
  }
}
