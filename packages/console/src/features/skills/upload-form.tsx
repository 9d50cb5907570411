/** Where a skill comes from: a text that is written here, a folder, or an archive. */
import { Field } from '../../components/field.tsx'
import { FilesField } from '../../components/files-field.tsx'
import { Select } from '../../components/select.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import type { SkillUpload } from './upload.ts'
import { pathOf, uploadWays } from './upload.ts'
import { uploadWords as own } from './words.ts'

/** The fields whose refusals stand under them. The service names SKILL.md itself. */
export const uploadFields = ['display_title', 'files', 'SKILL']

export const newUpload: SkillUpload = { by: 'text', title: '', text: own.example, files: [] }

export function whatIsMissing({ by, text, files }: SkillUpload): string | undefined {
  if (by === 'text') return text.trim() === '' ? own.noText : undefined
  if (files.length === 0) return own.noFiles
  const hasSkillFile = files.some((file) => /(?:^|\/)SKILL\.md$/.test(pathOf(file)))
  return by === 'folder' && !hasSkillFile ? own.noSkillFile : undefined
}

type UploadFieldsProps = {
  upload: SkillUpload
  onUpload: (upload: SkillUpload) => void
  fields: Problems['fields']
  /** Why it cannot be written here. */
  noText?: string | undefined
}

export function UploadFields({ upload, onUpload, fields, noText }: UploadFieldsProps) {
  const { by, text, files } = upload
  const problem = fields['files'] ?? fields['SKILL']
  const size = files.reduce((sum, file) => sum + file.size, 0)
  const chosen =
    files.length === 0 ? undefined : own.chosen(formatCount(files.length), formatCount(size))
  return (
    <>
      <Select
        label={own.way}
        choices={uploadWays.map((value) => ({
          value,
          label: own.ways[value],
          ...(value === 'text' && noText !== undefined && { offBecause: noText }),
        }))}
        value={by}
        onChange={(next) => onUpload({ ...upload, by: next, files: [] })}
      />
      {by === 'text' && (
        <Field
          isLong
          label={own.text}
          hint={own.textHint}
          value={text}
          problem={problem}
          onChange={(next) => onUpload({ ...upload, text: next })}
        />
      )}
      {by === 'folder' && (
        <FilesField
          key="folder"
          isFolder
          label={own.folder}
          hint={chosen ?? own.folderHint}
          problem={problem}
          onChoose={(next) => onUpload({ ...upload, files: next })}
        />
      )}
      {by === 'archive' && (
        <FilesField
          key="archive"
          label={own.archive}
          accept=".zip,.skill"
          hint={chosen ?? own.archiveHint}
          problem={problem}
          onChoose={(next) => onUpload({ ...upload, files: next })}
        />
      )}
    </>
  )
}
