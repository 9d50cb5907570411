/** Limits of the server and of workspaces, and the counting of requests against them. */
import type { Clock } from '@steward/base/time.ts'
import type { AddressClass, Rate, Rates, RequestClass } from '../../ground/core/fairness/rates.ts'
import { requestClasses, usualRates } from '../../ground/core/fairness/rates.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { AllowLists } from '@steward/protocol/rules.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { RateLimits } from '../../ground/http/rate-limits.ts'
import { rateLimitError } from '../../ground/http/rate-limits.ts'
import { workspaceStore } from '../workspaces/store.ts'
import type { Buckets } from './buckets.ts'
import { drawnBuckets } from './token-buckets.ts'
import type { RatePace } from './gcra.ts'
import { toRatePace } from './gcra.ts'
import type { LimitRow, ServerQuotas } from './effective-limits.ts'
import { effectiveRate, lowerRate } from './effective-limits.ts'
import type { LimitsCache } from './limits-cache.ts'
import { createLimitsCache, limitsFreshMs } from './limits-cache.ts'
import { bucketsInMemory } from './memory-buckets.ts'
import { networkOf, wideNetworkOf } from '../../ground/core/security/network.ts'
import type { PersonLimits } from '../people/people.ts'
import { peopleLimits, unlimitedPeople } from './person-limits.ts'
import type { SpendCap, Spending } from './spending/spending.ts'
import { buildSpendCaps, spendingOver } from './spending/spending.ts'
import type { Quotas } from './quotas.ts'
import { quotasOver } from './quotas.ts'
import type { CompiledLists } from './rules/compiled-lists.ts'
import { compileLists } from './rules/compiled-lists.ts'
import { rulesOver } from './rules/rules.ts'
import { rateStore } from './store.ts'
import type { Ground } from '../../ground/ground.ts'

type Paces = Partial<Record<RequestClass, RatePace>>
/** Limits that a workspace or the operator has set, as rows and in the forms that requests need. */
export type WorkspaceLimits = {
  rows: readonly LimitRow[]
  paces: Paces
  caps: readonly SpendCap[]
  allowed: CompiledLists
}

export type Limits = {
  /** Undefined when rate limits are off. */
  requests: RateLimits | undefined
  /** The server's rates; empty while they do not apply. */
  serverRates(): Rates
  workspaces: LimitsCache<WorkspaceLimits>
  quotas: Quotas
  spending: Spending
  rules: Rules
  /** Counts an attempt by a key such as an address; rejects where there are too many. */
  admit(of: AddressClass, key: string): Promise<void>
  people: PersonLimits
}

function pacesOf(server: Rates, rows: readonly LimitRow[]): Paces {
  const held = requestClasses.flatMap((each) => {
    const rate = effectiveRate(server, rows, each)
    return rate ? [[each, toRatePace(lowerRate(rate))] as const] : []
  })
  return Object.fromEntries(held)
}

/** On Postgres peers count requests of the same tenants, so the buckets are shared. */
const bucketsOf = ({ control }: Databases, clock: Clock): Buckets =>
  control.dialect === 'sqlite'
    ? bucketsInMemory(clock)
    : drawnBuckets(
        (...drawn) => control.writeStatement((db) => rateStore(db).draw(...drawn)),
        clock,
      )

/** True when several workspaces exist. The returned function answers from memory and refreshes in the background. */
function severalWorkspaces({ databases, clock, log }: Ground): () => boolean {
  let [are, lookAgainMs] = [false, 0]
  return () => {
    if (clock.now() < lookAgainMs) return are
    lookAgainMs = clock.now() + limitsFreshMs
    workspaceStore(databases.control.read)
      .areSeveral()
      .then(
        (several) => (are = several),
        (error: unknown) => log.warn('workspaces could not be counted', { error }),
      )
    return are
  }
}

/** `given`: the setting. Left out: the usual rates apply while several workspaces exist. */
export function limitsFor(
  given: Rates | 'off' | undefined,
  deps: Ground,
  serverQuotas: ServerQuotas = {},
  allowed: AllowLists = {},
): Limits {
  const rates = given === 'off' ? {} : (given ?? usualRates)
  const isOn = given === undefined ? severalWorkspaces(deps) : () => true
  const buckets = bucketsOf(deps.databases, deps.clock)
  // Attack: a caller with many addresses would push the buckets of workspaces out of a common table.
  const bucketsOfAddresses = bucketsOf(deps.databases, deps.clock)
  const serverPaces = pacesOf(rates, [])
  const workspaces = createLimitsCache<WorkspaceLimits>(
    (rows, spendLimits, own) => ({
      rows,
      paces: pacesOf(rates, rows),
      caps: buildSpendCaps(spendLimits),
      allowed: compileLists(own?.allowed ?? {}),
    }),
    deps,
  )

  /** The server's rate until the limits of the workspace are read, a moment after its first request. */
  const paceFor = (tenant: string, of: RequestClass): RatePace | undefined =>
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

  async function admitAddress(of: AddressClass, network: string, rate: Rate): Promise<void> {
    const verdict = await bucketsOfAddresses.take(`${of}/${network}`, toRatePace(rate))
    if (!verdict.isAdmitted) throw rateLimitError(verdict, of, 'this address')
  }

  return {
    requests: given === 'off' ? undefined : requests,
    serverRates: () => (isOn() ? rates : {}),
    workspaces,
    spending: spendingOver({ ...deps, known: workspaces }),
    rules: rulesOver(workspaces, allowed),
    quotas: quotasOver(workspaces, serverQuotas, deps.clock),
    async admit(of, key) {
      if (given === 'off') return
      const rate = given?.[of] ?? usualRates[of]
      const wide = wideNetworkOf(key)
      await admitAddress(of, networkOf(key), rate)
      if (wide !== undefined)
        await admitAddress(of, wide, { ...rate, limit: rate.limit * networksOfCustomer })
    },
    people: given === 'off' ? unlimitedPeople : peopleLimits(bucketsOfAddresses, given?.mail),
  }
}

/** How many times the requests of one network a customer with a /48 has. */
const networksOfCustomer = 4
