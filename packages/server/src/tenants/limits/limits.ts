/** Which limits hold for whom, and the counting of requests against them. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { AddressClass, RequestClass } from '../../ground/core/rates.ts'
import type { Rates } from '../../ground/core/rates.ts'
import { requestClasses, usualRates } from '../../ground/core/rates.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { RateLimits } from '../../ground/http/rate-limits.ts'
import { refusalOf } from '../../ground/http/rate-limits.ts'
import { workspaceStore } from '../workspaces/store.ts'
import type { Buckets } from './buckets.ts'
import type { Pace } from './gcra.ts'
import { paceOf } from './gcra.ts'
import { bucketsInMemory } from './memory.ts'
import { drawnBuckets } from './drawn.ts'
import { rateStore } from './store.ts'

/** How old the knowledge of workspaces and of their limits may become; the database is asked beside a request, and not for it. */
const knownMs = 15_000

export type Limits = RateLimits & {
  /** Counts an attempt by a key such as an address; rejects where there are too many. */
  admit(of: AddressClass, key: string): Promise<void>
}

type LimitsDeps = { databases: Databases; clock: Clock; log: Log }
type Paces = Partial<Record<RequestClass, Pace>>

const pacesOf = (rates: Rates): Paces =>
  Object.fromEntries(
    requestClasses.flatMap((each) => (rates[each] ? [[each, paceOf(rates[each])]] : [])),
  )

/** On Postgres other processes may count the same requests. */
const bucketsOf = ({ databases: { control }, clock }: LimitsDeps): Buckets =>
  control.dialect === 'sqlite'
    ? bucketsInMemory(clock)
    : drawnBuckets((...drawn) => control.once((db) => rateStore(db).draw(...drawn)), clock)

/** `given`: the setting. Without it the usual limits hold while there are several workspaces. */
export function limitsFor(given: Rates | 'off' | undefined, deps: LimitsDeps): Limits | undefined {
  if (given === 'off') return undefined
  const buckets = bucketsOf(deps)
  const { databases, clock, log } = deps
  const paces = pacesOf(given ?? usualRates)
  let isOn = given !== undefined
  let lookAgainMs = given === undefined ? 0 : Number.POSITIVE_INFINITY

  function lookForWorkspaces(): void {
    lookAgainMs = clock.now() + knownMs
    workspaceStore(databases.control.read)
      .areSeveral()
      .then(
        (several) => (isOn = several),
        (error: unknown) => log.warn('workspaces could not be counted', { error }),
      )
  }

  function paceFor(_tenant: string, of: RequestClass): Pace | undefined {
    if (clock.now() >= lookAgainMs) lookForWorkspaces()
    return isOn ? paces[of] : undefined
  }

  return {
    count(tenant, of) {
      const pace = paceFor(tenant, of)
      return pace && buckets.take(`${of}/${tenant}`, pace)
    },
    look(tenant, of) {
      const pace = paceFor(tenant, of)
      return pace && buckets.look(`${of}/${tenant}`, pace)
    },
    async admit(of, key) {
      const pace = paceOf(given?.[of] ?? usualRates[of])
      const verdict = await buckets.take(`${of}/${key}`, pace)
      if (!verdict.isAdmitted) throw refusalOf(verdict, of, 'this address')
    },
  }
}
