/** The filters of the list of sessions, as they stand in the address and as the service takes them. */
import * as z from 'zod/mini'
import type { FilterField, ChosenFilters } from '../../lib/filters.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { spanOf } from '../../lib/since.ts'
import { words } from '../../lib/words.ts'

const statuses = ['pending', 'running', 'idle', 'done', 'failed'] as const
const owners = ['any', 'person', 'machine', 'money'] as const
const waits = [...owners, ...keysOf(words.wait)]
const orders = ['created', 'active', 'cost', 'tokens', 'ran'] as const
const Order = z.enum(orders)
const Status = z.enum(statuses)

export const sessionFields: readonly FilterField[] = [
  { name: 'status', values: statuses, isMany: true },
  { name: 'waiting', values: waits, isMany: true },
  { name: 'failed', values: ['yes'] },
  { name: 'archived', values: ['yes'] },
  { name: 'sort', values: orders },
  { name: 'text', check: () => undefined },
  {
    name: 'agent',
    check: (value) => (/^agent_\w+$/.test(value) ? undefined : 'the id of an agent'),
  },
  {
    name: 'environment',
    check: (value) => (/^env_\w+$/.test(value) ? undefined : 'the id of an environment'),
  },
  {
    name: 'since',
    check: (value) => (spanOf(value) === undefined ? words.filter.since : undefined),
  },
]

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
  environment: Word,
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
export function sessionQueryOf(filters: ChosenFilters, now: number) {
  const { status, waiting, failed, archived, sort, text, agent, environment, since } = filters
  const order = Order.safeParse(sort)
  const holds = waits.filter((each) => (waiting ?? '').split(',').includes(each))
  const wanted = (status ?? '').split(',').flatMap((each) => {
    const read = Status.safeParse(each)
    return read.success ? [read.data] : []
  })
  const span = spanOf(since ?? '')
  return {
    ...(wanted.length > 0 && { status: wanted }),
    ...(holds.length > 0 && { waiting_on: holds }),
    ...(failed === 'yes' && { failed: 'true' as const }),
    ...(archived === 'yes' && { include_archived: 'true' as const }),
    ...(order.success && { sort: order.data }),
    ...(text !== undefined && { text }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(environment !== undefined && { environment_id: environment }),
    // To the minute, so that looking again asks the same.
    ...(span !== undefined && {
      'created_at[gte]': new Date(Math.floor((now - span) / 60_000) * 60_000).toISOString(),
    }),
  }
}
