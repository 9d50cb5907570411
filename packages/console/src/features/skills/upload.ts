/** What is uploaded as a skill: the text of a SKILL.md, or files of a folder or an archive. */
import type { ListedSkill, SkillSource } from '../../lib/api/types.ts'
import type { ApiCall } from '../../lib/request/api-call.ts'

export const uploadWays = ['text', 'folder', 'archive'] as const
type UploadWay = (typeof uploadWays)[number]

export type SkillUpload = {
  by: UploadWay
  /** Empty: the name in SKILL.md. A new version has none. */
  title: string
  text: string
  /** Of the folder, or the archive alone. */
  files: readonly File[]
}

export const sourceOf = ({ source }: ListedSkill): SkillSource =>
  typeof source === 'string' ? source : source.type

/** A file of a folder has its path below the folder's parent. */
export const pathOf = ({ webkitRelativePath, name }: File): string => webkitRelativePath || name

export const filesOf = ({ text }: SkillUpload) => [{ filename: 'SKILL.md', content: text }]

export function formOf({ title, files }: SkillUpload): FormData {
  const form = new FormData()
  if (title !== '') form.append('display_title', title)
  for (const file of files) form.append('files[]', file, pathOf(file))
  return form
}

/** Files that are named in the request that is shown. */
const mostNamed = 6

/** The request that an upload sends. `path`: of skills, or of the versions of one. */
export function uploadCall(upload: SkillUpload, path: string): ApiCall {
  const { by, title, files } = upload
  const named = title === '' ? {} : { display_title: title }
  if (by === 'text') return { method: 'POST', path, body: { ...named, files: filesOf(upload) } }
  const parts = files
    .slice(0, mostNamed)
    .map((file): [string, string] => ['files[]', `@${pathOf(file)};filename=${pathOf(file)}`])
  const left = files.length - parts.length
  return {
    method: 'POST',
    path,
    body: {},
    form: [
      ...Object.entries(named),
      ...parts,
      ...(left > 0 ? [['files[]', `… ${left} more`] as const] : []),
    ],
  }
}
