/** What a check of this machine and its settings found. */

/** `about` begins with what was looked at. `mending`: what to do, as a sentence that tells the reader what to do first. */
export type SetupFinding =
  | { state: 'ok'; about: string }
  | { state: 'warning' | 'failed'; about: string; mending: string }

/** Never rejects for what it looks at: that is a finding. */
export type SetupCheck = () => Promise<SetupFinding | readonly SetupFinding[]>

export const ok = (about: string): SetupFinding => ({ state: 'ok', about })
export function warning(about: string, mending: string): SetupFinding {
  return { state: 'warning', about, mending }
}
export function failed(about: string, mending: string): SetupFinding {
  return { state: 'failed', about, mending }
}

/** The message of an error and of what caused it; many have the reason in the cause alone. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const own = error.message || error.name
  return inner === undefined ? own : `${own}: ${reasonOf(inner)}`
}
