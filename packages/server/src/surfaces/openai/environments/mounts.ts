/** Files and skills that sessions of this surface get from their environment. */
import type { Agent } from '@steward/protocol/agents.ts'
import type { EnvironmentMounts, EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { OpenAITemplateUpdate } from '@steward/protocol/openai/templates.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { fileStore } from '../../../resources/files/store.ts'
import { pinSkills } from '../../../resources/skills/pin-skills.ts'
import { checkFree, filePaths, resolveFilePath } from '../../../sessions/resources/mount-path.ts'

/** The most files of one environment. */
const mostFiles = 100

export const noMounts: EnvironmentMounts = { files: [], skills: [] }

/** The fields of a request with files that have an id each. */
export type NamedFiles<Given extends { files?: unknown }> = Omit<Given, 'files'> & {
  files?: { file_id: string; path: string }[] | null | undefined
}

type MountFields = NamedFiles<Pick<OpenAITemplateUpdate, 'files' | 'skills' | 'setup_commands'>>

const workspace = '/workspace'

/** An absent field keeps its value. */
export const toEnvironmentMounts = (
  { files, skills, setup_commands }: MountFields,
  kept: EnvironmentMounts = noMounts,
): EnvironmentMounts => ({
  ...kept,
  files:
    files === undefined
      ? kept.files
      : (files ?? []).map(({ file_id, path }) => ({ file_id, path })),
  skills:
    skills === undefined
      ? kept.skills
      : (skills ?? []).map(({ skill_id, version }) => ({ skill_id, version: version ?? null })),
  ...(setup_commands !== undefined && { setup: toSetup(setup_commands) }),
})

export const toSetup = (
  commands: OpenAITemplateUpdate['setup_commands'],
): NonNullable<EnvironmentMounts['setup']> =>
  (commands ?? []).map(({ command, cwd }) => ({ command, cwd: cwd ?? workspace }))

/** Workers start sandboxes of their own, in which the service runs nothing. `at`: the field in errors. */
export function checkSetup(
  { kind, mounts }: Pick<EnvironmentRecord, 'kind' | 'mounts'>,
  at = 'setup_commands',
): void {
  if (kind !== 'self_hosted' || !mounts?.setup?.length) return
  throw invalid(
    `${at}: do not run on workers; prepare the worker's image, or ask the agent to run them`,
  )
}

export const skillRefs = (skills: EnvironmentMounts['skills']): Agent['skills'] =>
  skills.map(({ skill_id, version }) => ({
    type: 'custom',
    skill_id,
    version: version ?? 'latest',
  }))

/**
 * Refuses files whose paths collide, because no session could be created with them. `fieldOf` names the path of a file
 * in errors.
 */
function checkPaths(files: EnvironmentMounts['files'], fieldOf: (index: number) => string): void {
  const others: string[] = []
  for (const [index, { path }] of files.entries()) {
    const at = fieldOf(index)
    const paths = filePaths(resolveFilePath(path, at))
    checkFree(paths, others, at)
    others.push(...paths)
  }
}

/** Throws when the workspace does not have a file or a skill, and when no session could have a path. */
export async function checkMounts(
  read: Reads,
  tenant: string,
  { files, skills }: EnvironmentMounts,
  fieldOf = (index: number) => `files.${index}.path`,
): Promise<void> {
  if (files.length > mostFiles)
    throw invalid(`files: an environment has at most ${mostFiles}; archive them, and mount that`)
  checkPaths(files, fieldOf)
  const found = await fileStore(read).named(tenant, [
    ...new Set(files.map(({ file_id }) => file_id)),
  ])
  const ids = new Set(found.map(({ id }) => id))
  const missing = files.find(({ file_id }) => !ids.has(file_id))
  if (missing) throw notFound('file', missing.file_id)
  await pinSkills(read, tenant, skillRefs(skills), 'skills')
}
