import { parsedBy } from './problems.ts'
import type { z } from 'zod'

/**
 * The value of a setting that is JSON. Throws an error that names each wrong field and quotes no value, because one of
 * the values may be a secret.
 */
export function parseJsonSetting<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('is not JSON')
  }
  const parsed = parsedBy(schema, value)
  if (parsed.ok) return parsed.value
  throw new Error(parsed.problems)
}
