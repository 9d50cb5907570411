/**
 * The programs of the skills that every workspace has: what lies in `programs/`, with the libraries their scripts
 * import.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Date of the newest file of all skills: raise it when a file changes. */
export const changedAtMs = Date.UTC(2026, 10, 21)

/** Display titles by id. */
export const skillTitles = {
  docx: 'Word documents',
  pdf: 'PDF',
  pptx: 'Presentations',
  xlsx: 'Spreadsheets',
} as const

export type SkillFile = { path: string; bytes: Buffer; executable: boolean }

const root = join(import.meta.dirname, 'programs')

/** Files that several skills hold, below `programs/shared`. */
const shared: Record<string, readonly string[]> = {
  docx: ['cli', 'inputs', 'markdown', 'package', 'replace', 'xml'],
  pdf: ['cli', 'inputs', 'markdown'],
  pptx: ['cli', 'inputs', 'markdown', 'package', 'replace', 'xml'],
  xlsx: ['cli', 'inputs', 'package', 'xml'],
}

/** Libraries that are each one file: their names there, the files, and where the licence is from these. */
type Library = { name: string; code: () => string; licence: string }
const fflate: Library = {
  name: 'fflate',
  code: () => import.meta.resolve('fflate/browser'),
  licence: '../LICENSE',
}
const pdfLib: Library = {
  name: 'pdf-lib',
  code: () => import.meta.resolve('pdf-lib/dist/pdf-lib.esm.min.js'),
  licence: '../LICENSE.md',
}
const unpdf: Library = {
  name: 'unpdf',
  code: () => import.meta.resolve('unpdf/pdfjs'),
  licence: '../LICENSE',
}
const libraries: Record<string, readonly Library[]> = {
  docx: [fflate],
  pdf: [pdfLib, unpdf],
  pptx: [fflate],
  xlsx: [fflate],
}

/** The files of the skill's folder, and the files that its scripts import from `lib`. */
export async function filesOfSkill(id: string): Promise<SkillFile[]> {
  const entries = await readdir(join(root, id), { recursive: true, withFileTypes: true })
  const own = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => ({ file, path: relative(root, file) }))
  const lib = `${id}/scripts/lib`
  const ofOthers = (shared[id] ?? []).map((name) => ({
    file: join(root, 'shared', `${name}.mjs`),
    path: `${lib}/${name}.mjs`,
  }))
  const ofLibraries = (libraries[id] ?? []).flatMap(({ name, code, licence }) => [
    { file: fileURLToPath(code()), path: `${lib}/${name}.mjs` },
    { file: fileURLToPath(new URL(licence, code())), path: `${lib}/LICENSE-${name}` },
  ])
  // Nothing is read before all places are known: a module that cannot be found would leave reads that nobody awaits.
  return Promise.all(
    [...own, ...ofOthers, ...ofLibraries].map(async ({ file, path }) => ({
      path,
      bytes: await readFile(file),
      executable: false,
    })),
  )
}
