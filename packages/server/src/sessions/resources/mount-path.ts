/** The paths of a session's resources in its sandbox, resolved from `mount_path`. */
import { invalid } from '../../ground/core/errors.ts'
import type { ResourceRow } from '../rows/resources.ts'

const uploads = '/mnt/session/uploads'
const workspace = '/workspace'
const memory = '/mnt/memory'
const fileRoots = [uploads, workspace, '/home/user']
/** Folders that the service itself mounts. */
const taken = ['/home/user/files', '/home/user/.skills', '/mnt/session/outputs', '/mnt/user']

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)
const isIn = (path: string, folder: string): boolean => path === folder || isBelow(path, folder)

/**
 * The path of a file. A path outside of the folders for files is taken as a path below the uploads. A leading slash
 * makes no difference. `at` names the field in errors.
 */
export function resolveFilePath(text: string, at: string): string {
  const path = text.startsWith('/') ? text : `/${text}`
  const own = [...taken, memory].find((folder) => isIn(path, folder))
  if (own) throw invalid(`${at}: ${own} is mounted by the service; choose another folder`)
  if (fileRoots.includes(path)) throw invalid(`${at}: must name a file below ${path}`)
  return checkPath(fileRoots.some((root) => isBelow(path, root)) ? path : uploads + path, at)
}

/** The path of a repository: like `resolveFilePath`, with the working folder in place of the uploads. */
export function resolveRepositoryPath(text: string, at: string): string {
  const path = text.startsWith('/') ? text : `/${text}`
  const elsewhere = [...fileRoots, ...taken, memory].filter((folder) => folder !== workspace)
  if (path === workspace || elsewhere.some((folder) => isIn(path, folder)))
    throw invalid(`${at}: must lie below ${workspace}`)
  return checkPath(isBelow(path, workspace) ? path : workspace + path, at)
}

/** The requested path of a memory store. */
export function resolveStorePath(path: string, at: string): string {
  if (!isBelow(path, memory)) throw invalid(`${at}: must lie below ${memory}`)
  return checkPath(path, at)
}

/** Throws unless the path is in normal form and short enough for every file system. */
function checkPath(path: string, at: string): string {
  const segments = path.split('/').slice(1)
  if (segments.some((each) => each === '' || each === '.' || each === '..'))
    throw invalid(`${at}: may hold no empty, . and .. segments`)
  if (segments.some((each) => Buffer.byteLength(each) > 255) || Buffer.byteLength(path) > 1024)
    throw invalid(`${at}: has at most 1024 bytes, and 255 in a segment`)
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f]/.test(path) || !path.isWellFormed())
    throw invalid(`${at}: may hold no control characters`)
  return path
}

/** A note for the agent about the requested path, because people refer to a resource by the path that they gave. */
export const requestedPathNote = (row: ResourceRow): string =>
  row.mount_path === row.resolved_path ? '' : `, asked for at ${row.mount_path}`

/** A file outside of the uploads is linked below the uploads too. */
export const filePaths = (path: string): string[] =>
  isBelow(path, uploads) ? [path] : [path, uploads + path]

/** Throws when a path equals the path of another resource, or lies below or above it. */
export function checkFree(paths: readonly string[], others: readonly string[], at: string): void {
  for (const other of others) {
    const path = paths.find((each) => isIn(each, other) || isIn(other, each))
    if (path !== undefined) throw invalid(`${at}: ${path} collides with the resource at ${other}`)
  }
}
