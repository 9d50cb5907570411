import type { FileError, FileFailure } from './sandbox.ts'

const fileErrors: readonly (FileError | undefined)[] = [
  ...[undefined, 'not_found', 'not_a_file', 'not_a_directory', 'denied', 'too_large', 'io'],
] as const

export function decodeFailure(payload: Buffer): FileFailure {
  const code = fileErrors[payload[0] ?? 0] ?? 'io'
  return { ok: false, code, message: payload.toString('utf8', 1) }
}
