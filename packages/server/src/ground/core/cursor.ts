import { Line } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { invalid } from './errors.ts'

/** Its texts meet the database as they are; the longest are paths. */
const Shape = z.tuple([z.string(), z.array(z.union([Line.min(1).max(1024), z.number()]))])

/** Opaque to callers. `scope` says what the cursor walks, so that it cannot be used elsewhere or in another order. */
export const encodeCursor = (scope: string, place: (string | number)[]): string =>
  Buffer.from(JSON.stringify([scope, place])).toString('base64url')

export function decodeCursor<T extends z.ZodType<(string | number)[]>>(
  cursor: string,
  scope: string,
  place: T,
): z.output<T> {
  const wrong = invalid('page: this cursor is not one that this list handed out')
  let text: unknown
  try {
    text = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch (cause) {
    wrong.cause = cause
    throw wrong
  }
  const shape = Shape.safeParse(text)
  if (!shape.success || shape.data[0] !== scope) throw wrong
  const parsed = place.safeParse(shape.data[1])
  if (!parsed.success) throw wrong
  return parsed.data
}
