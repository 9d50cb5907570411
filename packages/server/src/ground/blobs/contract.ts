/** The contract of every blob store. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, it } from 'node:test'
import type { Blobs } from './blobs.ts'

async function* pieces(...each: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of each) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

async function* failing(before: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < before; i++) yield new Uint8Array(1024 * 1024)
  throw new Error('the caller went away')
}

const read = async (blobs: Blobs, key: string, range?: { start: number; end?: number }) => {
  const found = await blobs.get(key, range)
  return found && { size: found.size, text: await text(found.body) }
}

async function keysOf(blobs: Blobs, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of blobs.list(prefix)) keys.push(key)
  return keys.toSorted()
}

export function blobContract(name: string, opened: () => Promise<Blobs>): void {
  describe(`${name} as a store of blobs`, () => {
    it('gives back what was put, and says how much it was', async () => {
      const blobs = await opened()
      const put = await blobs.put('files/a/1', pieces('hello, ', 'world'))
      const sha256 = createHash('sha256').update('hello, world').digest('hex')
      assert.deepEqual(put, { size: 12, sha256 })
      assert.deepEqual(await read(blobs, 'files/a/1'), { size: 12, text: 'hello, world' })
      assert.deepEqual(await blobs.head('files/a/1'), { size: 12 })
    })

    it('keeps an empty blob', async () => {
      const blobs = await opened()
      assert.equal((await blobs.put('files/empty', pieces())).size, 0)
      assert.deepEqual(await read(blobs, 'files/empty'), { size: 0, text: '' })
    })

    it('gives ranges with the size of the whole', async () => {
      const blobs = await opened()
      await blobs.put('files/ranged', pieces('0123456789'))
      const ranged = async (start: number, end?: number) =>
        read(blobs, 'files/ranged', end === undefined ? { start } : { start, end })
      assert.deepEqual(await ranged(2, 5), { size: 10, text: '234' })
      assert.deepEqual(await ranged(7), { size: 10, text: '789' })
      assert.deepEqual(await ranged(7, 99), { size: 10, text: '789' })
      assert.deepEqual(await ranged(4, 4), { size: 10, text: '' })
      assert.deepEqual(await ranged(10), { size: 10, text: '' })
      assert.deepEqual(await ranged(50, 60), { size: 10, text: '' })
    })

    it('has nothing where nothing was put', async () => {
      const blobs = await opened()
      assert.equal(await blobs.get('files/none'), undefined)
      assert.equal(await blobs.get('files/none', { start: 0, end: 4 }), undefined)
      assert.equal(await blobs.head('files/none'), undefined)
      assert.deepEqual(await keysOf(blobs, 'nothing/here/'), [])
      await blobs.delete('files/none')
    })

    it('replaces a blob as a whole', async () => {
      const blobs = await opened()
      await blobs.put('files/twice', pieces('a longer first text'))
      await blobs.put('files/twice', pieces('second'))
      assert.deepEqual(await read(blobs, 'files/twice'), { size: 6, text: 'second' })
    })

    it('keeps nothing of a body that fails, however late, and keeps the blob that was there before', async () => {
      const blobs = await opened()
      for (const before of [0, 1, 20]) {
        await assert.rejects(blobs.put('broken/new', failing(before)), /went away/)
        assert.equal(await blobs.head('broken/new'), undefined)
      }
      await blobs.put('broken/old', pieces('kept'))
      await assert.rejects(blobs.put('broken/old', failing(10)), /went away/)
      assert.deepEqual(await read(blobs, 'broken/old'), { size: 4, text: 'kept' })
      assert.deepEqual(await keysOf(blobs, 'broken/'), ['broken/old'])
    })

    it('keeps many megabytes as they came', async () => {
      const blobs = await opened()
      const parts = Array.from({ length: 21 }, () => randomBytes(1024 * 1024 + 7))
      const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const size = parts.length * (1024 * 1024 + 7)
      assert.deepEqual(await blobs.put('files/large', pieces(...parts)), { size, sha256 })
      const found = await blobs.get('files/large')
      assert.equal(found?.size, size)
      const hash = createHash('sha256')
      for await (const chunk of found.body) hash.update(chunk as Buffer)
      assert.equal(hash.digest('hex'), sha256)
    })

    it('forgets what is deleted', async () => {
      const blobs = await opened()
      await blobs.put('files/gone', pieces('x'))
      await blobs.delete('files/gone')
      assert.equal(await blobs.head('files/gone'), undefined)
      await blobs.delete('files/gone')
    })

    it('deletes all that lies below a prefix, and nothing beside it', async () => {
      const blobs = await opened()
      for (const key of ['gone/one', 'gone/deep/two', 'gone/deep/three', 'gone-not/one'])
        await blobs.put(key, pieces(key))
      while (!(await blobs.deleteBelow('gone/')));
      assert.deepEqual(await keysOf(blobs, 'gone/'), [])
      assert.deepEqual(await keysOf(blobs, 'gone-not/'), ['gone-not/one'])
      assert.equal(await blobs.deleteBelow('gone/'), true)
    })

    it('lists what lies below a prefix, with sizes and times', async () => {
      const blobs = await opened()
      for (const key of ['tree/a', 'tree/b/c', 'tree/b/d', 'treehouse/e'])
        await blobs.put(key, pieces('1234'))
      assert.deepEqual(await keysOf(blobs, 'tree/'), ['tree/a', 'tree/b/c', 'tree/b/d'])
      assert.deepEqual(await keysOf(blobs, 'tree/b/'), ['tree/b/c', 'tree/b/d'])
      for await (const { size, modifiedMs } of blobs.list('tree/')) {
        assert.equal(size, 4)
        assert.ok(Math.abs(Date.now() - modifiedMs) < 60_000)
      }
    })

    it('takes no name of a person for a key', async () => {
      const blobs = await opened()
      const bad = ['', '/a', 'a/', 'a//b', '../a', 'a/../b', 'a/.b', 'a b', 'a\0', 'ä', '.', 'a\\b']
      for (const key of [...bad, 'x'.repeat(513)]) {
        await assert.rejects(blobs.put(key, pieces('x')), /no blob key/, key)
        await assert.rejects(blobs.get(key), /no blob key/, key)
        await assert.rejects(blobs.head(key), /no blob key/, key)
        await assert.rejects(blobs.delete(key), /no blob key/, key)
      }
      await assert.rejects(keysOf(blobs, 'a'), /no prefix/)
      await assert.rejects(keysOf(blobs, '../../'), /no blob key/)
    })

    it('keeps one of several writers whole', async () => {
      const blobs = await opened()
      const bodies = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(100_000))
      await Promise.all(bodies.map((body) => blobs.put('files/raced', pieces(body))))
      const found = await read(blobs, 'files/raced')
      assert.ok(found && bodies.includes(found.text))
    })

    it('allows a reader to drop a body unread after all of it has come', async () => {
      const blobs = await opened()
      await blobs.put('files/unread', pieces('short'))
      const unread = await blobs.get('files/unread')
      await sleep(50)
      unread?.body.destroy()
      await sleep(10)
      assert.deepEqual(await read(blobs, 'files/unread'), { size: 5, text: 'short' })
    })

    it('may be read by many, and by a reader that stops early', async () => {
      const blobs = await opened()
      const large = Buffer.alloc(3 * 1024 * 1024, 'x')
      await blobs.put('files/read', pieces(large))
      const early = await blobs.get('files/read')
      early?.body.destroy()
      const reads = await Promise.all([1, 2, 3].map(() => read(blobs, 'files/read')))
      for (const found of reads) assert.equal(found?.text.length, large.length)
    })
  })
}
