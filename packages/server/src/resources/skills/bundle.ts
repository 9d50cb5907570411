/** The files of a skill: one folder with a SKILL.md, and file names that are safe on every file system. */
import { invalid, PlatformError } from '../../ground/core/errors.ts'
import type { SkillHead } from './head.ts'
import { readSkillHead } from './head.ts'

export type BundleFile = { path: string; bytes: Uint8Array; executable: boolean }

/** Paths are relative to the folder, and sorted. */
export type Bundle = SkillHead & { directory: string; files: BundleFile[] }

/** Limits of one skill: files, and bytes of all files. */
export const mostFiles = 1000
export const largestBundle = 32 * 1024 * 1024
/** SKILL.md is part of every request. */
const largestSkillFile = 256 * 1024
const longestPath = 512
const deepest = 16

export const tooManyFiles = () => invalid(`files: a skill has at most ${mostFiles} files`)
export const bundleTooLarge = () =>
  new PlatformError('too_large', `files: a skill is at most ${largestBundle} bytes`)

/** True for files that a desktop's archiver adds for itself. */
export const isLitter = (path: string): boolean =>
  /^__MACOSX(\/|$)/.test(path) || /(^|\/)(\.DS_Store|desktop\.ini)$/i.test(path)

/** Throws on a name that may lead out of the folder, or that some file system treats as another name. */
export function checkPath(path: string): string {
  const problem = pathProblem(path)
  if (problem) throw invalid(`files: ${JSON.stringify(path.slice(0, 200))}: ${problem}`)
  return path
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'a file needs a name'
  if (Buffer.byteLength(path) > longestPath) return `a name is at most ${longestPath} bytes`
  if (path.includes('\\')) return 'a name has / between folders, and no backslash'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'a name may not be absolute'
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) || !path.isWellFormed())
    return 'a name has no control or format characters'
  const segments = path.split('/')
  if (segments.length > deepest) return `a name has at most ${deepest} parts`
  if (segments.some((each) => each === '' || each === '.' || each === '..'))
    return 'a name has no part that is empty, . or ..'
  if (segments.some((each) => Buffer.byteLength(each) > 255)) return 'a part is at most 255 bytes'
  return undefined
}

/**
 * Builds the skill from uploaded files: one folder that contains a SKILL.md, or the SKILL.md beside the files. `given`
 * replaces a missing description.
 */
export async function buildBundle(
  uploaded: readonly BundleFile[],
  given?: string,
): Promise<Bundle> {
  const all = uploaded.filter(({ path }) => !isLitter(path))
  if (all.length > mostFiles) throw tooManyFiles()
  if (all.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > largestBundle)
    throw bundleTooLarge()
  for (const { path } of all) checkPath(path)
  const top = topOf(all.map(({ path }) => path))
  const files = all.map((file) => ({
    ...file,
    path: top === undefined ? file.path : file.path.slice(top.length + 1),
  }))
  checkTree(files.map(({ path }) => path))
  const skillFile = files.find(({ path }) => path === 'SKILL.md')
  if (!skillFile) throw invalid(`files: there is no SKILL.md in ${top}`)
  if (skillFile.bytes.byteLength > largestSkillFile)
    throw invalid(
      `SKILL.md: is at most ${largestSkillFile} bytes; what is longer goes into other files`,
    )
  const head = await readSkillHead(skillFile.bytes, given)
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { ...head, directory: top ?? head.name, files }
}

/** The one folder that holds all files; undefined when SKILL.md is at the top. */
function topOf(paths: readonly string[]): string | undefined {
  if (paths.includes('SKILL.md')) return undefined
  const tops = new Set(paths.map((path) => path.split('/', 1)[0] ?? ''))
  const [top] = tops
  if (top === undefined) throw invalid('files: at least one is required, named SKILL.md')
  if (tops.size > 1 || paths.includes(top))
    throw invalid('files: all must lie in one folder, with a SKILL.md in it')
  return top
}

/** No two names that a file system may treat as the same, and no name of both a file and a folder. */
function checkTree(paths: readonly string[]): void {
  const files = new Set<string>()
  for (const path of paths) {
    if (files.has(path)) throw invalid(`files: ${path}: is there twice`)
    files.add(path)
  }
  const spellings = new Map<string, string>()
  for (const path of paths) {
    for (const folder of foldersOf(path)) {
      if (files.has(folder)) throw invalid(`files: ${folder}: is a file and a folder`)
    }
    for (const each of [...foldersOf(path), path]) {
      const other = spellings.get(folded(each)) ?? each
      if (other !== each)
        throw invalid(`files: ${other} and ${each}: are one name on some file systems`)
      spellings.set(folded(each), each)
    }
  }
}

/** The folders of a path, the outermost first. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

const folded = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase()
