import type { NewEvent } from '@steward/protocol/events.ts'

/** The JSON text of an event without its id and type, which have columns of their own. */
export function fieldsText({
  id: _id,
  type: _type,
  ...fields
}: NewEvent | Record<string, unknown>): string {
  return JSON.stringify(fields)
}
