/** The findings of the checks of this machine and its settings. */

/** `about` begins with the subject of the check. `mending` tells the reader what to do first. */
export type SetupFinding =
  | { state: 'ok'; about: string }
  | { state: 'warning' | 'failed'; about: string; mending: string }

/** Never rejects because of a fault that it finds: a fault is a finding. */
export type SetupCheck = () => Promise<SetupFinding | readonly SetupFinding[]>

export const ok = (about: string): SetupFinding => ({ state: 'ok', about })
export function warning(about: string, mending: string): SetupFinding {
  return { state: 'warning', about, mending }
}
export function failed(about: string, mending: string): SetupFinding {
  return { state: 'failed', about, mending }
}

/** What to do about a folder that cannot be written, by the code of the error. */
export const writeRemedy = (error: unknown, setting: string): string =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    ? `free space, or name a folder on a larger disk by ${setting}`
    : `give the account of the server the folder, or name another by ${setting}`

/** The message of an error and of its causes; the message alone often hides the reason. */
export function describeCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const own = error.message || error.name
  return inner === undefined ? own : `${own}: ${describeCauses(inner)}`
}
