/** The names of versions and of their files. */
import type { SkillVersion } from '../../lib/api/types.ts'

const madeAt = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A version is told apart by the time at which it was made. */
export const versionName = ({ created_at }: SkillVersion): string =>
  madeAt.format(new Date(created_at))

const skillFile = 'SKILL.md'

/** SKILL.md, then the others in their order. */
export const filesFirst = ({ files }: Pick<SkillVersion, 'files'>): string[] => {
  const names = files.map(({ filename }) => filename)
  return [
    ...names.filter((name) => name === skillFile),
    ...names.filter((name) => name !== skillFile),
  ]
}

export type SkillFileChange = { name: string; is: 'added' | 'gone' | 'kept' }

/** The files of two versions: whether a file of both differs is in its text. */
export function fileChanges(
  before: SkillVersion | undefined,
  after: SkillVersion,
): SkillFileChange[] {
  const [old, now] = [before ? filesFirst(before) : [], filesFirst(after)]
  return [
    ...now.map((name): SkillFileChange => ({ name, is: old.includes(name) ? 'kept' : 'added' })),
    ...old
      .filter((name) => !now.includes(name))
      .map((name): SkillFileChange => ({ name, is: 'gone' })),
  ]
}

/** The version that was chosen, or the newest, and the one before it. `rows`: the newest first. */
export function chosenOf(rows: readonly SkillVersion[], chosen: string | undefined) {
  const found = rows.findIndex(({ version }) => version === chosen)
  const [shown, before] = rows.slice(Math.max(0, found))
  return { shown, before }
}
