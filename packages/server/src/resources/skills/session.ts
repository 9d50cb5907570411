/** The skills of a session: their files in its sandbox, and the parts of the system prompt about them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolHost } from '@steward/harness/prompt.ts'
import type { SkillRefs } from '@steward/protocol/agents.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { Sandbox, SandboxMount } from '@steward/sandbox/sandbox.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Databases } from '../../ground/database/database.ts'
import { isBuiltin } from './builtin.ts'
import { skillBody } from './head.ts'
import { needsNode, withoutNode } from './node.ts'
import type { PinnedSkill } from './pin-skills.ts'
import { pinnedSkills } from './pin-skills.ts'
import type { UnpackedSkills } from './unpacked-skills.ts'

const mountedAt = '/home/user/.skills'

/** The parts of a session that are needed here. */
type SkillSession = {
  tenant: string
  agent: { skills: SkillRefs }
  keep: (events: readonly NewEvent[]) => Promise<void>
}

type MountedSkill = { id: string; name: string; folder: string }

export function sessionSkills({
  databases,
  unpacked,
  hasImages,
}: {
  databases: Databases
  unpacked: UnpackedSkills
  /** True when sandboxes start from images, which may lack Node. */
  hasImages: boolean
}) {
  async function layOne(
    tenant: string,
    { id, version }: PinnedSkill,
  ): Promise<MountedSkill | undefined> {
    if (!version) return undefined
    try {
      return { id, name: version.name, folder: await unpacked.folderOf(tenant, version) }
    } catch (error) {
      // The version was deleted meanwhile.
      if (error instanceof PlatformError && error.kind === 'not_found') return undefined
      throw error
    }
  }

  async function lay(
    tenant: string,
    refs: SkillRefs,
  ): Promise<{ laid: MountedSkill[]; gone: string[] }> {
    const { read } = await databases.open(tenant)
    const pinned = await pinnedSkills(read, tenant, refs)
    const all = await Promise.all(pinned.map((each) => layOne(tenant, each)))
    const gone = pinned.filter((_, index) => !all[index])
    return {
      laid: all.filter((each) => each !== undefined),
      gone: gone.map(({ id, digits }) => `${id}/${digits}`),
    }
  }

  /** Mounts each skill read-only, in a folder of its name. */
  const mount = async ({ tenant, agent, keep }: SkillSession) => {
    const { laid, gone } = await lay(tenant, agent.skills)
    if (gone.length > 0) await keep([warningOf(gone)])
    const mounts = laid.map(({ name, folder }): SandboxMount => ({
      source: folder,
      path: `${mountedAt}/${name}`,
      access: 'read',
    }))
    const rested = () => unpacked.touch(laid.map(({ folder }) => folder))
    const said: string[] = []
    const started = async (sandbox: Sandbox) => {
      const builtin = laid.filter(({ id }) => hasImages && isBuiltin(id)).map(({ name }) => name)
      const why = await withoutNode(sandbox, builtin)
      if (why === undefined) return
      said.push(why)
      await keep([needsNode(why)])
    }
    return { mounts, rested, started, changed: async () => said.splice(0) }
  }

  return {
    mount,

    /**
     * Parts of the system prompt: the paths of the skills, for an agent that can read files, and the unchanged body of
     * each SKILL.md. Nothing in a body is escaped. A body speaks for the person who gave the skill to the agent, and
     * may close its own tag. [skills/inlined/as-it-is]
     */
    async describe(
      tenant: string,
      refs: SkillRefs,
    ): Promise<(toolHost: ToolHost | undefined) => string[]> {
      if (refs.length === 0) return () => []
      const { laid, gone } = await lay(tenant, refs)
      const bodies = await Promise.all(
        laid.map(async ({ id, name, folder }) => {
          const text = await readFile(join(folder, 'SKILL.md'), 'utf8')
          return `<source name="skill:${id}"><skill name="${name}">${skillBody(text)}</skill></source>`
        }),
      )
      const missing = gone.map((each) => `The skill ${each} was deleted and is not at hand.`)
      return (toolHost) => [
        ...(toolHost && laid.length > 0 ? [whereabouts[toolHost]] : []),
        ...bodies,
        ...missing,
      ]
    },
  }
}
export type SessionSkills = ReturnType<typeof sessionSkills>

const whereabouts: Record<ToolHost, string> = {
  sandbox: `You have skills. The files of each are in ${mountedAt}/<name>/, and cannot be changed.`,
  host: `You have skills. The files of each are for file tools in ${mountedAt}/<name>/, for commands in ~/.skills/<name>/.`,
  worker: 'You have skills. The files of each are in skills/<name>/ below the working directory.',
}

const warningOf = (gone: readonly string[]): NewEvent => ({
  id: newId('event'),
  type: 'session.warning',
  reason: 'skill_gone',
  message: `deleted since the session was made, and left out: skill ${gone.join(', ')}`,
})
