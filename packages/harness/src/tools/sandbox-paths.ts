import type { FileFailure } from '@steward/sandbox/sandbox.ts'
import type { ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

export const workingFolderPath = '/workspace'
const home = '/home/user'
const roots = [
  workingFolderPath,
  '/mnt/session/outputs',
  '/mnt/session/uploads',
  '/mnt/memory',
  '/mnt/user',
  home,
  '/tmp',
]

export const pathSchema = {
  type: 'string',
  minLength: 1,
  description: 'an absolute path, or one below /workspace',
} as const

function absolute(given: string): string {
  if (given.startsWith('/')) return given
  return given === '~' || given.startsWith('~/')
    ? `${home}${given.slice(1)}`
    : `${workingFolderPath}/${given}`
}

/** The absolute path without `.` and `..`, or a refusal when it lies outside of the folders for file tools. */
export function confinePath(given: string): { path: string } | { refused: ToolResult } {
  const parts: string[] = []
  for (const part of absolute(given).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const path = `/${parts.join('/')}`
  if (roots.some((root) => isWithin(path, root))) return { path }
  const why = `${given}: file tools reach ${roots.join(', ')} only; use bash for other places`
  return { refused: textResult(why, true) }
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

export const fileFailure = (given: string, { code, message }: FileFailure): ToolResult =>
  textResult(code === 'not_found' ? `${given} does not exist` : `${given}: ${message}`, true)
