/**
 * Skills in a session's repositories, at .claude/skills/<name>/SKILL.md. The agent is told of each skill once, by name
 * and path, with the result of a call, and reads it when needed. Their texts come from the repository's authors and are
 * therefore no part of the system prompt. [skills/repository]
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { SkillHead } from './head.ts'
import { readSkillHead } from './head.ts'
import { z } from 'zod'

/** Skills of one repository. */
const mostSkills = 50
const mostEntries = 5000
/** A longer head is ignored. */
const headBytes = 64 * 1024

/** `folder`: the session's folder on this host. */
type SkillFolderTarget = { tenant: string; session: string; folder: string }
type MountedRepository = { resolved_path: string; mounted_at: string | null }

export function mountRepositorySkills(
  rows: (tenant: string, session: string) => Promise<readonly MountedRepository[]>,
) {
  return async ({ tenant, session, folder }: SkillFolderTarget) => {
    const note = join(folder, 'repository-skills.json')
    const told = new Set(await readNote(note))
    const isUntold = ({ resolved_path }: MountedRepository) => !told.has(resolved_path)
    let left = (await rows(tenant, session)).filter(isUntold).length
    if (left === 0) return {}
    const said: string[] = []
    let looking = Promise.resolve()

    async function look(sandbox: Sandbox): Promise<void> {
      if (left === 0) return
      const untold = (await rows(tenant, session)).filter(isUntold)
      for (const { resolved_path } of untold.filter(({ mounted_at }) => mounted_at !== null)) {
        said.push(...(await skillsIn(sandbox, resolved_path)))
        told.add(resolved_path)
      }
      left = untold.filter(isUntold).length
    }

    return {
      async before(sandbox: Sandbox): Promise<void> {
        // Calls may run at the same time.
        const again = () => look(sandbox)
        looking = looking.then(again, again)
        await looking
      },
      async changed(): Promise<readonly string[]> {
        const lines = said.splice(0)
        if (lines.length > 0) await writeFile(note, JSON.stringify([...told]), { mode: 0o600 })
        return lines
      },
    }
  }
}

async function readNote(note: string): Promise<string[]> {
  try {
    return z.array(z.string()).parse(JSON.parse(await readFile(note, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Lines for the agent; empty when there are none. A file that is no valid skill is skipped. */
async function skillsIn(sandbox: Sandbox, repository: string): Promise<string[]> {
  const root = `${repository}/.claude/skills`
  const walk = await sandbox.walk(root, mostEntries)
  if (!walk.ok) return []
  const isSkill = (path: string) => /^\/[^/]+\/SKILL\.md$/.test(path.slice(root.length))
  const paths = walk.files.map(({ path }) => path).filter(isSkill)
  const lines: string[] = []
  for (const path of paths.toSorted().slice(0, mostSkills)) {
    const head = await headIn(sandbox, path)
    if (head) lines.push(`- ${head.name} (${path}): ${head.description.replaceAll(/\s+/g, ' ')}`)
  }
  if (lines.length === 0) return []
  const intro = `${repository} brings skills of its own. Read the file of one before you do what it is for:`
  return [[intro, ...lines].join('\n')]
}

async function headIn(sandbox: Sandbox, path: string): Promise<SkillHead | undefined> {
  const file = await sandbox.read(path, { offset: 0, maxBytes: headBytes })
  if (!file.ok) return undefined
  try {
    return await readSkillHead(wholeText(file.bytes))
  } catch (error) {
    if (error instanceof PlatformError) return undefined
    throw error
  }
}

/** Cut at a line end, because a long file may be cut within a character. */
const wholeText = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength < headBytes ? bytes : bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
