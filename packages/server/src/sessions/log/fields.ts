import type { NewEvent } from '@steward/protocol/events.ts'

/** What is kept of an event beside its id and type. */
export function fieldsText({
  id: _id,
  type: _type,
  ...fields
}: NewEvent | Record<string, unknown>): string {
  return JSON.stringify(fields)
}
