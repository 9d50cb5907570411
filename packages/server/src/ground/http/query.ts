import { describeProblem } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import { invalid } from '../core/errors.ts'
import { parseInput } from './bodies/body.ts'
import type { Route } from './route.ts'

/**
 * Parses a query string. Arrays are `name[]` or repeated names. Range filters keep their brackets (`created_at[gte]`).
 * An empty value, the official client's null, counts as absent. [http/query/lists]
 */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>()
  for (const [key, value] of search) {
    if (value === '') continue
    const name = key.endsWith('[]') ? key.slice(0, -2) : key
    const before = values.get(name)
    if (before === undefined) values.set(name, key.endsWith('[]') ? [value] : value)
    else values.set(name, [before, value].flat())
  }
  return Object.fromEntries(values)
}

/** Parses a query by its schema. The error names every wrong field, and a field that was sent twice. */
export const parseQuery = <S extends z.ZodType>(
  schema: S,
  query: ReturnType<typeof queryObject>,
): z.output<S> => parseInput(schema, query, describeQueryProblem)

function describeQueryProblem(issue: Parameters<typeof describeProblem>[0]): string {
  const { code, input } = issue
  const isOfOne =
    code === 'invalid_value' || (code === 'invalid_type' && issue.expected !== 'array')
  if (!isOfOne || !Array.isArray(input)) return describeProblem(issue)
  return `takes one value, and was sent ${input.length > 1 ? 'twice' : 'as a list'}`
}

/**
 * Throws for a parameter that the schema does not know, and for an empty one: an answer that passed over a filter would
 * be a wrong one. [http/query/audit]
 */
function checkFilters(search: URLSearchParams, schema: z.ZodType | undefined): void {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  for (const [name, value] of search) {
    if (name === 'beta') continue
    if (!names.includes(name))
      throw invalid(`${name}: is no parameter of this route, which takes ${names.join(', ')}`)
    if (value === '') throw invalid(`${name}: must not be empty; leave it out for all`)
  }
}

/** `search`: the query without its question mark. */
export function readQuery({ query, isQueryChecked }: Route, search: string): unknown {
  if (!query) return undefined
  if (search === '') return parseQuery(query, {})
  const parameters = new URLSearchParams(search)
  if (isQueryChecked) checkFilters(parameters, query)
  return parseQuery(query, queryObject(parameters))
}
