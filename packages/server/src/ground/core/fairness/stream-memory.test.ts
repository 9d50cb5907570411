import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { freeMemory, ownsMemory, freeUsedViews } from './stream-memory.ts'

describe('pieces of a stream', () => {
  it('lie alone in their memory only when they are all of it', () => {
    const whole = Buffer.allocUnsafeSlow(100)
    assert.ok(ownsMemory(whole))
    assert.ok(!ownsMemory(whole.subarray(1)))
    assert.ok(!ownsMemory(Buffer.from('pooled')))
    assert.ok(!ownsMemory(Buffer.alloc(0)))
  })

  it('are freed when they are given back', () => {
    const piece = Buffer.allocUnsafeSlow(100)
    freeMemory(piece.buffer)
    assert.equal(piece.byteLength, 0)
  })

  it('are given back when one of other memory is asked for, and no sooner', async () => {
    const [first, second] = [
      Buffer.allocUnsafeSlow(8).fill('a'),
      Buffer.allocUnsafeSlow(8).fill('b'),
    ]
    const borrowed = Buffer.from('borrowed')
    const views = [first.subarray(0, 4), first.subarray(4), borrowed, second, second.subarray(2)]
    const seen: string[] = []
    const alone = new WeakSet<ArrayBufferLike>([first.buffer, second.buffer])
    for await (const view of freeUsedViews(Readable.from(views), alone)) {
      seen.push(Buffer.from(view).toString())
      assert.equal(first.byteLength === 0, seen.length > 2)
    }
    assert.deepEqual(seen, ['aaaa', 'aaaa', 'borrowed', 'bbbbbbbb', 'bbbbbb'])
    assert.equal(borrowed.toString(), 'borrowed')
  })
})
