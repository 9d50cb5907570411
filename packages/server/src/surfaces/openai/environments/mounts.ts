/** Files and skills that an environment gives to sessions of this surface. */
import type { Agent } from '@steward/protocol/agents.ts'
import type { EnvironmentMounts } from '@steward/protocol/environments.ts'
import type { OpenAITemplateUpdate } from '@steward/protocol/openai/templates.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { fileStore } from '../../../resources/files/store.ts'
import { pinSkills } from '../../../resources/skills/pin.ts'

/** Files of one environment. */
const mostFiles = 100

export const noMounts: EnvironmentMounts = { files: [], skills: [] }

type MountFields = Pick<OpenAITemplateUpdate, 'files' | 'skills'>

/** A field that is left out stays. */
export const mountsOf = (
  { files, skills }: MountFields,
  kept: EnvironmentMounts = noMounts,
): EnvironmentMounts => ({
  files:
    files === undefined
      ? kept.files
      : (files ?? []).map(({ file_id, path }) => ({ file_id, path })),
  skills:
    skills === undefined
      ? kept.skills
      : (skills ?? []).map(({ skill_id, version }) => ({ skill_id, version: version ?? null })),
})

export const skillRefs = (skills: EnvironmentMounts['skills']): Agent['skills'] =>
  skills.map(({ skill_id, version }) => ({
    type: 'custom',
    skill_id,
    version: version ?? 'latest',
  }))

/** Throws for files and skills that the workspace has not got, and for paths that stand twice. */
export async function checkMounts(
  read: Reads,
  tenant: string,
  { files, skills }: EnvironmentMounts,
): Promise<void> {
  if (files.length > mostFiles)
    throw invalid(`files: an environment has at most ${mostFiles}; archive them, and mount that`)
  const paths = files.map(({ path }) => path)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined) throw invalid(`files: ${twice} stands twice`)
  const found = await fileStore(read).named(tenant, [
    ...new Set(files.map(({ file_id }) => file_id)),
  ])
  const ids = new Set(found.map(({ id }) => id))
  const missing = files.find(({ file_id }) => !ids.has(file_id))
  if (missing) throw notFound('file', missing.file_id)
  await pinSkills(read, tenant, skillRefs(skills), 'skills')
}
