/** Limits of published outputs. */

/** Largest number of names that a session publishes. */
export const mostNames = 1_000

/** `most`: the quota of what the workspace stores. */
export const quotaMessage = (most: number): string =>
  `the files of this workspace would take more than ${most} bytes, its quota stored_bytes`

/** Why a file cannot be published under this name; undefined when it can. */
export function nameObjection(name: string): string | undefined {
  if (Buffer.byteLength(name) > 255) return 'its name takes more than 255 bytes'
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(name))
    return 'its name holds control characters'
  return undefined
}
