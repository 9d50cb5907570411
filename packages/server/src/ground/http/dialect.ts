/** Selects the form of an answer by the headers of its request. */
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { Header } from './caller.ts'

export const requestDialect = (header: Header): Dialect =>
  header('anthropic-version') === undefined ? 'interface' : 'client'

const none: ReadonlySet<string> = new Set()

export function readBetas(header: Header): ReadonlySet<string> {
  const both = [header('anthropic-beta'), header('vendor-beta')].filter(
    (value) => value !== undefined,
  )
  if (both.length === 0) return none
  const values = both.join(',').split(',')
  return new Set(values.map((value) => value.trim()).filter(Boolean))
}
