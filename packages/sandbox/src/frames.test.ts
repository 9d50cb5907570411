import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  encodeRequest,
  FrameError,
  frameDecoder,
  maxDataBytes,
  maxRequestBytes,
  replyKinds,
  requestKinds,
} from './frames.ts'
import type { Frame } from './frames.ts'

function frame(type: number, id: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9)
  header.writeUInt32LE(5 + payload.length)
  header.writeUInt8(type, 4)
  header.writeUInt32LE(id, 5)
  return Buffer.concat([header, payload])
}

const claim = (length: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(length)
  return bytes
}

/** Copies payloads, because a payload is only valid until the next call. */
function decodeAll(chunks: readonly Buffer[]): Frame[] {
  const decode = frameDecoder()
  return chunks.flatMap((chunk) =>
    [...decode(chunk)].map((each) => ({ ...each, payload: Buffer.from(each.payload) })),
  )
}

/** The same numbers for the same seed, so that a failure can be run again. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('frames from a daemon', () => {
  it('come out whole however the stream is cut', () => {
    const sent = [
      frame(replyKinds.ready, 0, claim(1)),
      frame(replyKinds.data, 0xffffffff, Buffer.alloc(maxDataBytes, 7)),
      frame(replyKinds.done, 3, Buffer.alloc(0)),
    ]
    const bytes = Buffer.concat(sent)
    const random = numbers(1)
    for (let round = 0; round < 200; round++) {
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const size = 1 + random(round % 2 ? 20_000 : 9)
        chunks.push(bytes.subarray(at, Math.min(at + size, bytes.length)))
        at += size
        if (chunks.length > 200) {
          chunks.push(bytes.subarray(at))
          break
        }
      }
      const frames = decodeAll(chunks)
      assert.deepEqual(
        frames.map(({ type, id, payload }) => [type, id, payload.length]),
        [
          [replyKinds.ready, 0, 4],
          [replyKinds.data, 0xffffffff, maxDataBytes],
          [replyKinds.done, 3, 0],
        ],
      )
    }
  })

  it('are refused by the claimed size alone, before anything of it has come', () => {
    for (const size of [0, 4, 5 + maxDataBytes + 1, 0x7fffffff, 0xffffffff]) {
      assert.throws(() => decodeAll([claim(size)]), FrameError, String(size))
    }
  })

  it('are refused when their type is none of a reply', () => {
    for (const type of [0, requestKinds.exec, 63, 69, 255]) {
      assert.throws(() => decodeAll([frame(type, 1, Buffer.alloc(0))]), FrameError, String(type))
    }
  })

  it('wait for their end when it has not come', () => {
    const whole = frame(replyKinds.data, 1, Buffer.from('abc'))
    for (let size = 0; size < whole.length; size++) {
      assert.deepEqual(decodeAll([whole.subarray(0, size)]), [])
    }
  })

  it('yield the frames before the malformed one', () => {
    const decode = frameDecoder()
    const chunk = Buffer.concat([frame(replyKinds.done, 1, Buffer.alloc(0)), claim(0)])
    const frames = decode(chunk)
    assert.equal(frames.next().value?.id, 1)
    assert.throws(() => frames.next(), FrameError)
  })

  it('hold no memory when they come by the hundred thousand', () => {
    const decode = frameDecoder()
    const chunk = Buffer.concat(
      Array.from({ length: 1000 }, (_, id) => frame(replyKinds.data, id, Buffer.alloc(1))),
    )
    let count = 0
    const before = process.memoryUsage()
    for (let round = 0; round < 200; round++) for (const _ of decode(chunk)) count++
    const after = process.memoryUsage()
    assert.equal(count, 200_000)
    assert.ok(after.arrayBuffers - before.arrayBuffers < 16 << 20)
  })

  it('of random bytes are refused or awaited, and nothing else happens', () => {
    for (let seed = 1; seed <= 3000; seed++) {
      const random = numbers(seed)
      const decode = frameDecoder()
      try {
        for (let round = 0; round < 5; round++) {
          const chunk = Buffer.from(Array.from({ length: random(40) }, () => random(256)))
          if (random(2) && chunk.length >= 5) {
            chunk.writeUInt32LE(5 + random(30))
            chunk.writeUInt8(64 + random(6), 4)
          }
          for (const { type, id, payload } of decode(chunk)) {
            assert.ok(type >= replyKinds.ready && type <= replyKinds.failed)
            assert.ok(id <= 0xffffffff && payload.length <= maxDataBytes)
          }
        }
      } catch (error) {
        assert.ok(error instanceof FrameError, `seed ${seed}: ${String(error)}`)
      }
    }
  })
})

describe('frames to a daemon', () => {
  it('hold numbers, strings, bytes and lists, little endian', () => {
    const bytes = encodeRequest(requestKinds.exec, 0x01020304, [
      1,
      2n,
      'ab',
      ['c', ''],
      Buffer.of(9),
    ])
    const parts = ['01000000', '0200000000000000', '616200', '02000000', '6300', '00', '09']
    const body = Buffer.from(`0104030201${parts.join('')}`, 'hex')
    assert.deepEqual(bytes, Buffer.concat([claim(body.length), body]))
  })

  it('are not made of values that the daemon refuses', () => {
    assert.throws(() => encodeRequest(requestKinds.read, 1, ['a\0b']), FrameError)
    assert.throws(() => encodeRequest(requestKinds.exec, 1, [['a\0b']]), FrameError)
    const most = Buffer.alloc(maxRequestBytes - 5)
    assert.equal(encodeRequest(requestKinds.writeData, 1, [most]).length, maxRequestBytes + 4)
    assert.throws(
      () => encodeRequest(requestKinds.writeData, 1, [Buffer.alloc(maxRequestBytes - 4)]),
      FrameError,
    )
  })
})
