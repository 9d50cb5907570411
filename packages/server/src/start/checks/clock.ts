import type { Clock } from '@steward/base/time.ts'
import type { SetupFinding } from './finding.ts'
import { failed, ok } from './finding.ts'

/** This version did not exist before. */
const firstDayMs = Date.UTC(2026, 10, 1)
/** Certificates and tokens that begin so much later than a right clock says are none. */
const lastDayMs = Date.UTC(2100, 0, 1)

/** A clock that is years off breaks TLS, sign-in, signatures and email, each with an error that does not name it. */
export function checkClock(clock: Pick<Clock, 'now'>): SetupFinding {
  const now = new Date(clock.now())
  const day = now.toISOString().slice(0, 10)
  return now.getTime() >= firstDayMs && now.getTime() < lastDayMs
    ? ok(`clock: it is ${day}`)
    : failed(
        `clock: this machine says that it is ${day}`,
        'set the clock, for instance by chrony: certificates, tokens and signatures depend on it',
      )
}
