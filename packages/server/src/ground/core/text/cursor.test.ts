import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { PlatformError } from '../errors.ts'

const Position = z.tuple([z.string(), z.int()])
const decode = (cursor: string, scope = 'events/s1/asc') => decodeCursor(cursor, scope, Position)
const refused = (error: unknown) =>
  error instanceof PlatformError &&
  error.kind === 'invalid_request' &&
  error.message.startsWith('page: ')

describe('a cursor', () => {
  it('gives back the position that it was made of', () => {
    const position: [string, number] = ['2026-01-01T00:00:00.000Z', 17]
    const cursor = encodeCursor('events/s1/asc', position)
    assert.match(cursor, /^[\w-]+$/)
    assert.deepEqual(decode(cursor), position)
  })

  it('is refused as the caller’s mistake when it is garbage', () => {
    const made = encodeCursor('events/s1/asc', ['a', 1])
    const base = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const garbage = ['', 'garbage', '%%%', made.slice(0, -6), base(null), base({}), base(['x'])]
    for (const cursor of garbage) assert.throws(() => decode(cursor), refused)
  })

  it('is refused in another list, and in another order', () => {
    const cursor = encodeCursor('events/s1/asc', ['a', 1])
    assert.throws(() => decode(cursor, 'events/s2/asc'), refused)
    assert.throws(() => decode(cursor, 'events/s1/desc'), refused)
  })

  it('is refused when its position has another shape', () => {
    for (const position of [[], ['a'], [1, 'a'], ['a', 1, 2], ['a', 1.5]]) {
      assert.throws(() => decode(encodeCursor('events/s1/asc', position)), refused)
    }
  })
})
