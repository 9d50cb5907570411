/** Pins the versions of a session's skills at its creation, like the agent version. */
import type { SkillRefs } from '@steward/protocol/agents.ts'
import { invalid, notFound, PlatformError } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { builtinDigits, readBuiltinSkills, isBuiltin } from './builtin.ts'
import { resolveVersionDigits, sourceOf } from './catalog.ts'
import type { SkillVersionRow } from './store.ts'
import { isVersionId, skillStore, versionDigits, versionId } from './store.ts'

/** Skills of one session. */
const mostSkills = 500

/**
 * Resolves each skill to a version, in the spelling of the request: an id for an id, digits otherwise. Throws when a
 * skill does not exist, or when two skills would use the same folder.
 */
export async function pinSkills(
  db: Reads,
  tenant: string,
  refs: SkillRefs,
  field = 'agent.skills',
): Promise<SkillRefs> {
  if (refs.length > mostSkills) throw invalid(`${field}: at most ${mostSkills} for a session`)
  const own = refs.filter(({ skill_id }) => !isBuiltin(skill_id))
  const rows = own.length > 0 ? await skillStore(db).rowsOf(tenant, own) : []
  const latest = new Map(rows.map((row) => [row.id, row]))
  const pinned = refs.map(({ type, skill_id, version }, index) => {
    const row = isBuiltin(skill_id) ? builtinRow(skill_id) : latest.get(skill_id)
    if (!row) throw notFound('skill', skill_id)
    const source = sourceOf(skill_id)
    if (type !== source)
      throw invalid(`${field}.${index}.type: skill ${skill_id} is of type ${source}`)
    const digits = resolveVersionDigits(row, version)
    return { type, skill_id, version: isVersionId(version) ? versionId(digits) : digits }
  })
  checkNames(pinned, await ownVersions(db, tenant, pinned), field)
  return pinned
}

/** Refuses skills with which no session could be created, naming the agent's field. [agents/skills/known] */
export async function checkSkills(read: Reads, tenant: string, refs: SkillRefs): Promise<void> {
  if (refs.length === 0) return
  try {
    await pinSkills(read, tenant, refs, 'skills')
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind !== 'not_found') throw error
    throw invalid(`skills: ${error.message}`)
  }
}

const builtinRow = (id: string) => ({ id, latest_version: builtinDigits })

function checkNames(pinned: SkillRefs, versions: Versions, field: string): void {
  const names = new Map<string, string>()
  for (const { skill_id: id, version } of pinned) {
    const digits = versionDigits(version)
    const name = isBuiltin(id) && digits === builtinDigits ? id : versions(id, digits)?.name
    if (name === undefined) throw notFound('skill version', `${id}/${version}`)
    const other = names.get(name)
    if (other !== undefined)
      throw invalid(`${field}: ${other} and ${id} are both named ${name}, as their folder would be`)
    names.set(name, id)
  }
}

type Versions = (skill: string, digits: string) => SkillVersionRow | undefined

async function ownVersions(db: Reads, tenant: string, refs: SkillRefs): Promise<Versions> {
  const own = refs.filter(({ skill_id }) => !isBuiltin(skill_id))
  const rows = own.length > 0 ? await skillStore(db).versionsOf(tenant, own) : []
  const byId = new Map(rows.map((row) => [`${row.skill_id}/${row.id}`, row]))
  return (skill, digits) => byId.get(`${skill}/${versionId(digits)}`)
}

export type PinnedSkill = { id: string; digits: string; version: SkillVersionRow | undefined }

/**
 * The skills of a session in order. `version` is undefined when it was deleted since. A built-in skill always has this
 * server's version.
 */
export async function pinnedSkills(
  read: Reads,
  tenant: string,
  refs: SkillRefs,
): Promise<PinnedSkill[]> {
  const given = await readBuiltinSkills()
  const versions = await ownVersions(read, tenant, refs)
  return refs.map(({ skill_id: id, version }) => {
    const digits = versionDigits(version)
    return { id, digits, version: given.get(id)?.version ?? versions(id, digits) }
  })
}
