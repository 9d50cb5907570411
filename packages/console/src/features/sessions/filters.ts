/** The filters of the list of sessions, as they stand in the address and as the service takes them. */
import * as z from 'zod/mini'
import type { FilterField, ChosenFilters } from '../../lib/filters.ts'
import { spanOf } from '../../lib/since.ts'
import { words } from '../../lib/words.ts'

const statuses = [
  'pending',
  'running',
  'idle',
  'done',
  'failed',
  'rescheduling',
  'terminated',
] as const
const Status = z.enum(statuses)

export const sessionFields: readonly FilterField[] = [
  { name: 'status', values: statuses, isMany: true },
  {
    name: 'agent',
    check: (value) => (/^agent_\w+$/.test(value) ? undefined : 'the id of an agent'),
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
export const SessionSearch = z.object({ status: Word, agent: Word, since: Word })
export type SessionSearch = z.infer<typeof SessionSearch>

/** The filters of an address; a value that no filter takes is left out. */
export function filtersOf(search: SessionSearch): ChosenFilters {
  const given = Object.entries(search).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
  )
  return Object.fromEntries(given)
}

/** What the service is asked. `now` in milliseconds since 1970. */
export function sessionQueryOf({ status, agent, since }: ChosenFilters, now: number) {
  const wanted = (status ?? '').split(',').flatMap((each) => {
    const read = Status.safeParse(each)
    return read.success ? [read.data] : []
  })
  const span = spanOf(since ?? '')
  return {
    ...(wanted.length > 0 && { status: wanted }),
    ...(agent !== undefined && { agent_id: agent }),
    // To the minute, so that looking again asks the same.
    ...(span !== undefined && {
      'created_at[gte]': new Date(Math.floor((now - span) / 60_000) * 60_000).toISOString(),
    }),
  }
}
