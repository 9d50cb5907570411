/** Which limits hold for whom, and the counting of requests against them. */
import type { Clock } from '@steward/base/time.ts'
import type { AddressClass, Rates, RequestClass } from '../../ground/core/rates.ts'
import { requestClasses, usualRates } from '../../ground/core/rates.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { RateLimits } from '../../ground/http/rate-limits.ts'
import { rateLimitError } from '../../ground/http/rate-limits.ts'
import { workspaceStore } from '../workspaces/store.ts'
import type { Buckets } from './buckets.ts'
import { drawnBuckets } from './drawn.ts'
import type { Pace } from './gcra.ts'
import { paceOf } from './gcra.ts'
import type { LimitRow, ServerQuotas } from './holding.ts'
import { heldRate, rateOf } from './holding.ts'
import type { KnownDeps, KnownLimits } from './known.ts'
import { knownLimits, knownMs } from './known.ts'
import { bucketsInMemory } from './memory.ts'
import { networkOf } from './network.ts'
import type { Cap, Spending } from './spending/spending.ts'
import { capsOf, spendingOver } from './spending/spending.ts'
import type { Quotas } from './quotas.ts'
import { quotasOver } from './quotas.ts'
import { rateStore } from './store.ts'

type Paces = Partial<Record<RequestClass, Pace>>
/** What was read of a workspace. */
export type WorkspaceLimits = { rows: readonly LimitRow[]; paces: Paces; caps: readonly Cap[] }

export type Limits = {
  /** Undefined where no request is ever limited. */
  requests: RateLimits | undefined
  /** The rates of the server where they hold now, empty where they do not. */
  serverRates(): Rates
  workspaces: KnownLimits<WorkspaceLimits>
  quotas: Quotas
  spending: Spending
  /** Counts an attempt by a key such as an address; rejects where there are too many. */
  admit(of: AddressClass, key: string): Promise<void>
}

function pacesOf(server: Rates, rows: readonly LimitRow[]): Paces {
  const held = requestClasses.flatMap((each) => {
    const rate = heldRate(server, rows, each)
    return rate ? [[each, paceOf(rateOf(rate))] as const] : []
  })
  return Object.fromEntries(held)
}

/** On Postgres other processes may count the same requests. */
const bucketsOf = ({ control }: Databases, clock: Clock): Buckets =>
  control.dialect === 'sqlite'
    ? bucketsInMemory(clock)
    : drawnBuckets(
        (...drawn) => control.writeStatement((db) => rateStore(db).draw(...drawn)),
        clock,
      )

/** Whether there are several workspaces; the database is asked beside a call, and not for it. */
function severalWorkspaces({ databases, clock, log }: KnownDeps): () => boolean {
  let [are, lookAgainMs] = [false, 0]
  return () => {
    if (clock.now() < lookAgainMs) return are
    lookAgainMs = clock.now() + knownMs
    workspaceStore(databases.control.read)
      .areSeveral()
      .then(
        (several) => (are = several),
        (error: unknown) => log.warn('workspaces could not be counted', { error }),
      )
    return are
  }
}

/** `given`: the setting. Without it the usual rates hold while there are several workspaces. */
export function limitsFor(
  given: Rates | 'off' | undefined,
  deps: KnownDeps,
  serverQuotas: ServerQuotas = {},
): Limits {
  const rates = given === 'off' ? {} : (given ?? usualRates)
  const isOn = given === undefined ? severalWorkspaces(deps) : () => true
  const buckets = bucketsOf(deps.databases, deps.clock)
  // Apart, because whoever has many addresses would make workspaces' buckets be forgotten.
  const bucketsOfAddresses = bucketsOf(deps.databases, deps.clock)
  const serverPaces = pacesOf(rates, [])
  const workspaces = knownLimits<WorkspaceLimits>(
    (rows, spendLimits) => ({ rows, paces: pacesOf(rates, rows), caps: capsOf(spendLimits) }),
    deps,
  )

  /** Those of the server until the workspace's are read, which takes a moment after its first request. */
  const paceFor = (tenant: string, of: RequestClass): Pace | undefined =>
    isOn() ? (workspaces.peek(tenant)?.paces ?? serverPaces)[of] : undefined

  const requests: RateLimits = {
    count(tenant, of) {
      const pace = paceFor(tenant, of)
      return pace && buckets.take(`${of}/${tenant}`, pace)
    },
    peekLimit(tenant, of) {
      const pace = paceFor(tenant, of)
      return pace && buckets.look(`${of}/${tenant}`, pace)
    },
  }

  return {
    requests: given === 'off' ? undefined : requests,
    serverRates: () => (isOn() ? rates : {}),
    workspaces,
    spending: spendingOver({ ...deps, known: workspaces }),
    quotas: quotasOver(workspaces, serverQuotas, deps.clock),
    async admit(of, key) {
      if (given === 'off') return
      const pace = paceOf(given?.[of] ?? usualRates[of])
      const verdict = await bucketsOfAddresses.take(`${of}/${networkOf(key)}`, pace)
      if (!verdict.isAdmitted) throw rateLimitError(verdict, of, 'this address')
    },
  }
}
