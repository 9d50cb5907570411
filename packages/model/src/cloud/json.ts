import type { JsonObject } from '../wire/documents.ts'
import { isRecord } from '../wire/fit/loose.ts'

/** The object that a text is as JSON, or the first one of a list; undefined for everything else. */
export function parsedRecord(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const first: unknown = Array.isArray(value) ? value[0] : value
    return isRecord(first) ? first : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
