/** The skills that every workspace has, as rows that no database holds. */
import { createHash } from 'node:crypto'
import { runOnce } from '@steward/base/shared-runs.ts'
import { iso } from '@steward/base/time.ts'
import { buildBundle } from './bundle.ts'
import { changedAtMs, filesOfSkill, skillTitles } from '@steward/skills/skills.ts'
import type { SkillRow, SkillVersionRow } from './store.ts'
import { versionId } from './store.ts'
import { packZip } from './zip.ts'

/** The version of all built-in skills. */
export const builtinDigits = String(changedAtMs * 1000)

export const isBuiltin = (id: string): boolean => Object.hasOwn(skillTitles, id)

export type BuiltinSkill = { skill: SkillRow; version: SkillVersionRow; archive: Buffer }

/** The built-in skills by name, read once, at the first call. */
export const readBuiltinSkills = runOnce(readAll)

async function readAll(): Promise<Map<string, BuiltinSkill>> {
  const all = await Promise.all(
    Object.entries(skillTitles).map(([id, title]) => readOne(id, title)),
  )
  return new Map(all.map((each) => [each.skill.id, each]))
}

async function readOne(id: string, display_title: string): Promise<BuiltinSkill> {
  const { name, description, directory, files } = await buildBundle(await filesOfSkill(id))
  const archive = await packZip({ name, files })
  const at = iso(changedAtMs)
  const skill: SkillRow = {
    tenant_id: '',
    id,
    name,
    display_title,
    description,
    latest_version: builtinDigits,
    newest_version: builtinDigits,
    created_at: at,
    updated_at: at,
  }
  const version: SkillVersionRow = {
    tenant_id: '',
    skill_id: id,
    id: versionId(builtinDigits),
    name,
    description,
    directory,
    size_bytes: archive.byteLength,
    sha256: createHash('sha256').update(archive).digest('hex'),
    blob_key: '',
    created_at: at,
    files: files.map(({ path }) => path),
  }
  return { skill, version, archive }
}
