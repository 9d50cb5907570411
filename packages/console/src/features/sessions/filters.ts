/** The filters of the list of sessions, as they stand in the address and as the service takes them. */
import * as z from 'zod/mini'
import type { FilterField, ChosenFilters } from '../../lib/filters.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { spanOf } from '../../lib/since.ts'
import { words } from '../../lib/words.ts'

const own = words.sessions.filters

const statuses = ['pending', 'running', 'idle', 'done', 'failed'] as const
const owners = ['any', 'person', 'machine', 'money'] as const
const waits = [...owners, ...keysOf(words.wait)]
const orders = ['created', 'active', 'cost', 'tokens', 'ran'] as const
const Order = z.enum(orders)
const Status = z.enum(statuses)

/** Filters whose values are known without the service. */
export const stateFields: readonly FilterField[] = [
  { name: 'status', about: own.status, values: statuses, isMany: true },
  { name: 'waiting', about: own.waiting, values: waits, isMany: true },
  { name: 'failed', about: own.failed, values: ['yes'] },
]
export const plainFields: readonly FilterField[] = [
  {
    name: 'version',
    about: own.version,
    needs: 'agent',
    check: (value) => (/^[1-9]\d{0,8}$/.test(value) ? undefined : words.filter.version),
  },
  {
    name: 'since',
    about: own.since,
    check: (value) => (spanOf(value) === undefined ? words.filter.since : undefined),
  },
  {
    name: 'cost',
    about: own.cost,
    check: (value) => (costOf(value) === undefined ? words.filter.cost : undefined),
  },
  { name: 'text', about: own.text, isText: true },
  { name: 'sort', about: own.sort, values: orders },
  { name: 'archived', about: own.archived, values: ['yes'] },
]

/** What other things of the workspace a session can be found by, and how their ids begin. */
export const thingFields = {
  agent: { about: own.agent, id: /^agent_\w+$/ },
  environment: { about: own.environment, id: /^env_\w+$/ },
  deployment: { about: own.deployment, id: /^depl_\w+$/ },
  creator: { about: own.creator, id: /^[a-z]+_\w{16,}$/ },
} as const
export type ThingField = keyof typeof thingFields

/** Dollars of `>0.5`, `<2` and `0.1-2`. */
function costOf(value: string): { least?: number; most?: number } | undefined {
  const [, sign, amount] = /^([<>])(\d{1,9}(?:\.\d{1,6})?)$/.exec(value) ?? []
  if (amount !== undefined)
    return sign === '>' ? { least: Number(amount) } : { most: Number(amount) }
  const [, least, most] = /^(\d{1,9}(?:\.\d{1,6})?)-(\d{1,9}(?:\.\d{1,6})?)$/.exec(value) ?? []
  return least === undefined ? undefined : { least: Number(least), most: Number(most) }
}

/** US cents, as the service takes them. */
const centsOf = (dollars: number): string => String(Number((dollars * 100).toFixed(6)))

const Word = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((value) => (typeof value === 'string' ? value : undefined)),
  ),
)
export const SessionSearch = z.object({
  status: Word,
  waiting: Word,
  failed: Word,
  archived: Word,
  sort: Word,
  text: Word,
  agent: Word,
  version: Word,
  environment: Word,
  deployment: Word,
  creator: Word,
  cost: Word,
  since: Word,
})
export type SessionSearch = z.infer<typeof SessionSearch>

/** The filters of an address; a value that no filter takes is left out. */
export function filtersOf(search: SessionSearch): ChosenFilters {
  const given = Object.entries(search).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
  )
  return Object.fromEntries(given)
}

/** What the service is asked. `now` in milliseconds since 1970. */
export const sessionQueryOf = (filters: ChosenFilters, now: number) => ({
  ...stateQuery(filters),
  ...thingQuery(filters),
  ...rangeQuery(filters, now),
  ...(filters['text'] !== undefined && { text: filters['text'] }),
})

function stateQuery({ status, waiting, failed, archived, sort }: ChosenFilters) {
  const order = Order.safeParse(sort)
  const holds = waits.filter((each) => (waiting ?? '').split(',').includes(each))
  const wanted = (status ?? '').split(',').flatMap((each) => {
    const read = Status.safeParse(each)
    return read.success ? [read.data] : []
  })
  return {
    ...(wanted.length > 0 && { status: wanted }),
    ...(holds.length > 0 && { waiting_on: holds }),
    ...(failed === 'yes' && { failed: 'true' as const }),
    ...(archived === 'yes' && { include_archived: 'true' as const }),
    ...(order.success && { sort: order.data }),
  }
}

const thingQuery = ({ agent, version, environment, deployment, creator }: ChosenFilters) => ({
  ...(agent !== undefined && { agent_id: agent }),
  ...(agent !== undefined && version !== undefined && { agent_version: Number(version) }),
  ...(environment !== undefined && { environment_id: environment }),
  ...(deployment !== undefined && { deployment_id: deployment }),
  ...(creator !== undefined && { created_by: creator }),
})

function rangeQuery({ since, cost }: ChosenFilters, now: number) {
  const span = spanOf(since ?? '')
  const { least, most } = costOf(cost ?? '') ?? {}
  return {
    ...(least !== undefined && { min_cost: centsOf(least) }),
    ...(most !== undefined && { max_cost: centsOf(most) }),
    // To the minute, so that looking again asks the same.
    ...(span !== undefined && {
      'created_at[gte]': new Date(Math.floor((now - span) / 60_000) * 60_000).toISOString(),
    }),
  }
}

/** Whether an address names things that only the service knows. */
export const namesThings = (filters: ChosenFilters): boolean =>
  keysOf(thingFields).some((name) => {
    const value = filters[name]
    return value !== undefined && !thingFields[name].id.test(value)
  })
