import { parsedBy } from '@steward/protocol/problems.ts'
import type { z } from 'zod'

/** Throws an error that names each wrong field and quotes no value, because some of the values are secrets. */
export function parseJson<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('is not JSON')
  }
  const parsed = parsedBy(schema, value)
  if (!parsed.ok) throw new Error(parsed.problems)
  return parsed.value
}
