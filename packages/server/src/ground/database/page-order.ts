import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { invalid } from '../core/errors.ts'
import type { Paging } from '../core/text/page.ts'

/** The condition and the direction of a page of rows with `created_at` and `id`, both served by the index. */
export function orderPage({ order, from }: Paging): {
  begins: RawBuilder<boolean>
  way: 'asc' | 'desc'
} {
  const back = from?.side === 'before'
  const way = (order === 'desc') === back ? 'asc' : 'desc'
  if (!from) return { begins: sql<boolean>`1 = 1`, way }
  const past = sql.raw(way === 'asc' ? '>' : '<')
  return { begins: sql<boolean>`(created_at, id) ${past} (${from.created_at}, ${from.id})`, way }
}

export type TimeComparison = { op: '>' | '>=' | '<' | '<='; at: string }

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Reads `created_at[gt]`, `[gte]`, `[lt]` and `[lte]` of a query as comparisons with ISO text in UTC. */
export function timeComparisons(query: { [key: string]: unknown }): TimeComparison[] {
  return Object.entries(operators).flatMap(([name, op]) => {
    const at = query[`created_at[${name}]`]
    return typeof at === 'string' ? [{ op, at: new Date(at).toISOString() }] : []
  })
}

const holds = {
  '>': (one: string, other: string) => one > other,
  '>=': (one: string, other: string) => one >= other,
  '<': (one: string, other: string) => one < other,
  '<=': (one: string, other: string) => one <= other,
} as const

/** Refuses a cursor that lies outside of the times: the page would be empty although rows match. */
export function checkPosition({ from }: Paging, times: readonly TimeComparison[]): void {
  if (from && !times.every(({ op, at }) => holds[op](from.created_at, at)))
    throw invalid(
      'page: lies outside of created_at: keep the times of the first page, or begin anew',
    )
}
