import { Line } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { invalid } from '../errors.ts'

/** Texts of a cursor go to the database unchanged. The longest are paths. */
const Shape = z.tuple([z.string(), z.array(z.union([Line.min(1).max(1024), z.number()]))])

/** Encodes a cursor, opaque to callers. `scope` names the list and its order: a cursor of another scope is refused. */
export const encodeCursor = (scope: string, position: (string | number)[]): string =>
  Buffer.from(JSON.stringify([scope, position])).toString('base64url')

export function decodeCursor<T extends z.ZodType<(string | number)[]>>(
  cursor: string,
  scope: string,
  position: T,
): z.output<T> {
  const wrong = invalid(
    'page: this is not a cursor of this list: send next_page or prev_page of an earlier answer',
  )
  let text: unknown
  try {
    text = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch (cause) {
    wrong.cause = cause
    throw wrong
  }
  const shape = Shape.safeParse(text)
  if (!shape.success || shape.data[0] !== scope) throw wrong
  const parsed = position.safeParse(shape.data[1])
  if (!parsed.success) throw wrong
  return parsed.data
}
