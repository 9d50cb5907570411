/** The skills that every workspace has; their files lie in builtin/, and nothing of them is in a database. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { iso } from '../core/time.ts'
import type { BundleFile } from './bundle.ts'
import { bundleOf } from './bundle.ts'
import type { SkillRow, VersionRow } from './store.ts'
import { versionId } from './store.ts'
import { zipped } from './zip.ts'

/** The version of them all: raised when a file of one changes. */
const madeAtMs = Date.UTC(2026, 10, 21)

const titles = { docx: 'Word documents', pdf: 'PDF', pptx: 'Presentations', xlsx: 'Spreadsheets' }

export const isBuiltin = (id: string): boolean => Object.hasOwn(titles, id)

export type Builtin = { skill: SkillRow; version: VersionRow; archive: Buffer }

let read: Promise<Map<string, Builtin>> | undefined

/** Read once, when somebody first asks. */
export const builtins = (): Promise<Map<string, Builtin>> => (read ??= readAll())

async function readAll(): Promise<Map<string, Builtin>> {
  const all = await Promise.all(Object.entries(titles).map(([id, title]) => readOne(id, title)))
  return new Map(all.map((each) => [each.skill.id, each]))
}

async function readOne(id: string, display_title: string): Promise<Builtin> {
  const { name, description, directory, files } = bundleOf(await filesIn(id))
  const archive = await zipped({ name, files })
  const at = iso(madeAtMs)
  const digits = String(madeAtMs * 1000)
  const skill: SkillRow = {
    tenant_id: '',
    id,
    name,
    display_title,
    description,
    latest_version: digits,
    newest_version: digits,
    created_at: at,
    updated_at: at,
  }
  const version: VersionRow = {
    tenant_id: '',
    skill_id: id,
    id: versionId(digits),
    name,
    description,
    directory,
    size_bytes: archive.byteLength,
    sha256: createHash('sha256').update(archive).digest('hex'),
    blob_key: '',
    created_at: at,
    files: JSON.stringify(files.map(({ path }) => path)),
  }
  return { skill, version, archive }
}

async function filesIn(id: string): Promise<BundleFile[]> {
  const root = join(import.meta.dirname, 'builtin')
  const entries = await readdir(join(root, id), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const place = join(parentPath, name)
      const [bytes, { mode }] = await Promise.all([readFile(place), stat(place)])
      return { path: relative(root, place), bytes, executable: (mode & 0o111) !== 0 }
    }),
  )
}
