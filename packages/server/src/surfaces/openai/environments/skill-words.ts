/** Names and descriptions of the skills of environments and sessions. */
import type { SkillRefs } from '@steward/protocol/agents.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { pinnedSkills } from '../../../resources/skills/pin-skills.ts'
import { skillStore } from '../../../resources/skills/store.ts'

/** `version`: null for the newest one. */
type NamedSkill = { skill_id: string; version: string | null }
/** `version`: the newest one where none is named. */
type SkillWords = { version: string; name: string; description: string }
export type WordsOfSkill = (skill: NamedSkill) => SkillWords

const keyOf = ({ skill_id, version }: NamedSkill): string => `${skill_id}/${version ?? ''}`

/** A skill that was deleted keeps its id as its name. */
export async function readSkillWords(
  read: Reads,
  tenant: string,
  skills: readonly NamedSkill[],
): Promise<WordsOfSkill> {
  const words = new Map<string, SkillWords>()
  const asked = [...new Map(skills.map((skill) => [keyOf(skill), skill])).values()]
  const pinned = asked.flatMap(({ skill_id, version }): SkillRefs =>
    version === null ? [] : [{ type: 'custom', skill_id, version }],
  )
  const found = pinned.length > 0 ? await pinnedSkills(read, tenant, pinned) : []
  for (const [index, ref] of pinned.entries()) {
    const version = found[index]?.version
    if (version) words.set(keyOf(ref), { ...wordsOf(version), version: ref.version })
  }
  const newest = asked.flatMap(({ skill_id, version }): SkillRefs =>
    version === null ? [{ type: 'custom', skill_id, version: 'latest' }] : [],
  )
  const rows = newest.length > 0 ? await skillStore(read).rowsOf(tenant, newest) : []
  for (const row of rows)
    words.set(keyOf({ skill_id: row.id, version: null }), {
      ...wordsOf(row),
      version: row.latest_version ?? '',
    })
  return ({ skill_id, version }) =>
    words.get(keyOf({ skill_id, version })) ?? {
      name: skill_id,
      description: '',
      version: version ?? '',
    }
}

const wordsOf = ({ name, description }: { name: string; description: string }) => ({
  name,
  description,
})
