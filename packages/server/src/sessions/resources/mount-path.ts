/** Where a session may have its resources. behaviours.md 1.15 */
import { invalid } from '../../core/errors.ts'

const roots = ['/mnt/session/uploads', '/workspace', '/home/user']
/** Laid out by the service itself. */
const taken = ['/home/user/files', '/home/user/.skills']

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)

/** An absolute path in normal form, below a folder that resources may lie in. `at` names the field. */
export function checkMountPath(path: string, at: string, below = roots): string {
  const segments = path.split('/').slice(1)
  if (
    !path.startsWith('/') ||
    segments.some((each) => each === '' || each === '.' || each === '..')
  )
    throw invalid(`${at}: must be an absolute path without empty, . and .. segments`)
  if (segments.some((each) => Buffer.byteLength(each) > 255) || Buffer.byteLength(path) > 1024)
    throw invalid(`${at}: has at most 1024 bytes, and 255 in a segment`)
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f]/.test(path) || !path.isWellFormed())
    throw invalid(`${at}: may hold no control characters`)
  if (!below.some((root) => isBelow(path, root)))
    throw invalid(`${at}: must lie below ${below.join(', ')}`)
  const own = taken.find((folder) => path === folder || isBelow(path, folder))
  if (own) throw invalid(`${at}: ${own} is laid out by the service`)
  return path
}

/** As `checkMountPath`, and in the workspace. */
export function workspacePath(path: string, at: string): string {
  if (!isBelow(path, '/workspace')) throw invalid(`${at}: must lie below /workspace`)
  return checkMountPath(path, at)
}

/** Refuses a path that another one is, lies in, or holds. */
export function checkFree(path: string, others: readonly string[], at: string): void {
  const other = others.find((each) => each === path || isBelow(each, path) || isBelow(path, each))
  if (other !== undefined) throw invalid(`${at}: ${path} collides with the resource at ${other}`)
}
