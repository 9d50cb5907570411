/** What a session brings with it, fetched by the claim's token and laid out from inside of its sandbox. contract.md 4.3 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import { setupSkills } from '@anthropic-ai/sdk/tools/agent-toolset/node'
import type { Sandbox, SandboxMount } from '@steward/sandbox/sandbox.ts'

export type Inputs = {
  mounts: SandboxMount[]
  /** Into a sandbox that has just started, before its first call. */
  layOut(sandbox: Sandbox): Promise<void>
  remove(): Promise<void>
}

const place = '/opt/steward-skills'
const layOutWithinMs = 60_000

/** Throws, naming it, for a resource that this harness does not lay out. */
export async function inputsOf(client: Anthropic, id: string, isHost: boolean): Promise<Inputs> {
  const session = await client.beta.sessions.retrieve(id)
  const [other] = session.resources
  if (other)
    throw new Error(
      `this harness lays no ${other.type} out: ${id} needs a worker of lane ama_worker`,
    )
  if (session.agent.skills.length === 0)
    return { mounts: [], layOut: () => Promise.resolve(), remove: () => Promise.resolve() }
  // Never below the workspace: what the session has written there is followed by nobody outside of its sandbox.
  const folder = await mkdtemp(join(tmpdir(), 'steward-skills-'))
  const skills = join(folder, 'skills')
  await mkdir(skills)
  await setupSkills({ workdir: folder, client, session })
  return {
    mounts: isHost ? [] : [{ source: skills, path: place, access: 'write' }],
    async layOut(sandbox) {
      const from = isHost ? skills : place
      const command = `rm -rf skills && mkdir skills && cp -R '${from}/.' skills/`
      const { output, exitCode } = await sandbox.shell({ command, timeoutMs: layOutWithinMs })
      if (exitCode !== 0) throw new Error(`the skills were not laid out: ${output.trim()}`)
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
