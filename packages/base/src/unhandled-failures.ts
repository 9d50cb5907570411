import type { Log } from './log.ts'

/**
 * Logs failures that no code awaits, so that one of them does not end the work of everybody else in this process. Each
 * is a bug: what it belonged to goes on as if it had not failed.
 */
export function logUnhandledFailures(log: Log): void {
  process.on('unhandledRejection', (error) => {
    log.error('something failed that nobody waited for; this is a bug, and the process goes on', {
      error,
    })
  })
}
