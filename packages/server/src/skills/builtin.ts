/** The skills that every workspace has; their files lie in builtin/, and nothing of them is in a database. */
import { readdir, readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { iso } from '../core/time.ts'
import type { BundleFile } from './bundle.ts'
import { bundleOf } from './bundle.ts'
import type { SkillRow, VersionRow } from './store.ts'
import { versionId } from './store.ts'
import { zipped } from './zip.ts'

/** The version of them all: raised when a file of one changes. */
const madeAtMs = Date.UTC(2026, 10, 21)
export const builtinDigits = String(madeAtMs * 1000)

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
  const version: VersionRow = {
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
    files: JSON.stringify(files.map(({ path }) => path)),
  }
  return { skill, version, archive }
}

const root = join(import.meta.dirname, 'builtin')

/** Files that several skills hold, below `builtin/shared`. */
const shared: Record<string, readonly string[]> = {
  docx: ['cli', 'inputs', 'markdown', 'package', 'replace', 'xml'],
  pdf: ['cli', 'inputs', 'markdown'],
  pptx: ['cli', 'inputs', 'markdown', 'package', 'replace', 'xml'],
  xlsx: ['cli', 'inputs', 'package', 'xml'],
}

/** Libraries that are each one file: their names there, their modules, and where the licence is from these. */
const fflate = ['fflate', 'fflate/browser', '../LICENSE'] as const
const libraries: Record<string, readonly (readonly [string, string, string])[]> = {
  docx: [fflate],
  pdf: [
    ['pdf-lib', 'pdf-lib/dist/pdf-lib.esm.min.js', '../LICENSE.md'],
    ['unpdf', 'unpdf/pdfjs', '../LICENSE'],
  ],
  pptx: [fflate],
  xlsx: [fflate],
}

/** What lies in the skill's folder, and what its scripts import from `lib`. */
async function filesIn(id: string): Promise<BundleFile[]> {
  const entries = await readdir(join(root, id), { recursive: true, withFileTypes: true })
  const own = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((place) => fileAt(place, relative(root, place)))
  const lib = `${id}/scripts/lib`
  const ofOthers = (shared[id] ?? []).map((name) =>
    fileAt(join(root, 'shared', `${name}.mjs`), `${lib}/${name}.mjs`),
  )
  const ofLibraries = (libraries[id] ?? []).flatMap(([name, module, licence]) => {
    const code = import.meta.resolve(module)
    return [
      fileAt(fileURLToPath(code), `${lib}/${name}.mjs`),
      fileAt(fileURLToPath(new URL(licence, code)), `${lib}/LICENSE-${name}`),
    ]
  })
  return Promise.all([...own, ...ofOthers, ...ofLibraries])
}

async function fileAt(place: string, path: string): Promise<BundleFile> {
  return { path, bytes: await readFile(place), executable: false }
}
