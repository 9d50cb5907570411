/** What a page shows of an error. */
export function requestIdOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('requestId' in error)) return undefined
  return typeof error.requestId === 'string' ? error.requestId : undefined
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** True where somebody else was first. */
export const isConflict = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && error.status === 409

export const isAbsent = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && error.status === 404
