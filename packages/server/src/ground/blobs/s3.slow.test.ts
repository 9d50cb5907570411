import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { Agent } from 'undici'
import { guardedAgent, operatorGuard, parseRanges } from '../core/security/dial.ts'
import { BlobStoreError } from '../core/errors.ts'
import type { Blobs } from './blobs.ts'
import { blobContract } from './contract.ts'
import { bytes, startInFrontOf, passTo, servedBucket, answerStatus } from './s3-fixture.ts'
import { s3Blobs } from './s3.ts'

describe('blobs in a bucket', () => {
  let served: Awaited<ReturnType<typeof servedBucket>>
  before(async () => void (served = await servedBucket()))
  after(() => served.close())

  blobContract('a bucket', () => s3Blobs({ ...served.bucket, prefix: '' }))
  blobContract('a folder of a bucket', () => s3Blobs({ ...served.bucket, prefix: 'ours/blobs' }))
  blobContract('a bucket with a host name of its own', () => {
    const { port } = new URL(served.bucket.endpoint)
    const found = [{ address: '127.0.0.1', family: 4 }]
    const dispatcher = new Agent({
      connect: { lookup: (_host, _options, callback) => callback(null, found) },
    })
    const endpoint = `http://s3.amazonaws.com:${port}`
    return s3Blobs({
      ...served.bucket,
      endpoint,
      pathStyle: false,
      dispatcher,
      prefix: 'by-host',
    })
  })

  const read = async (blobs: Blobs, key: string) => {
    const found = await blobs.get(key)
    return found && (await text(found.body))
  }

  describe('blobs in a bucket', () => {
    it('are asked for again when the store is busy or breaks off', async () => {
      let failures = 0
      await using front = await startInFrontOf(served.bucket, ({ url }) => {
        if (!url.includes('/retried') || ++failures > 3) return undefined
        if (failures === 2) return (incoming) => incoming.socket.destroy()
        return answerStatus(failures === 1 ? 503 : 429)
      })
      const blobs = await s3Blobs(front.bucket)
      await blobs.put('retried', bytes('there'))
      assert.equal(failures, 4)
      assert.equal(await read(blobs, 'retried'), 'there')
    })

    it('fail with the words of the store when its error persists', async () => {
      const xml = '<Error><Code>SlowDown</Code><Message>&lt;later&gt;</Message></Error>'
      await using front = await startInFrontOf(served.bucket, ({ method }) =>
        method === 'PUT' ? answerStatus(503, xml) : undefined,
      )
      const blobs = await s3Blobs(front.bucket)
      await assert.rejects(blobs.put('busy', bytes('x')), (error) => {
        assert.ok(error instanceof BlobStoreError)
        assert.match(String(error.cause), /503 \(SlowDown: <later>\).*busy/)
        return true
      })
      assert.equal(front.seen.filter((each) => each.startsWith('PUT')).length, 4)
    })

    // verifies: http/blobs-away
    it('are known to be away soon when the store says nothing or refuses connections', async () => {
      let isSilent = false
      await using front = await startInFrontOf(served.bucket, () =>
        isSilent ? () => {} : undefined,
      )
      const blobs = await s3Blobs({ ...front.bucket, patienceMs: 200 })
      await blobs.put('kept', bytes('x'))
      isSilent = true
      const asked = front.seen.length
      const before = performance.now()
      const uses = [
        () => blobs.put('small', bytes('x')),
        () => blobs.get('kept'),
        () => blobs.head('kept'),
      ]
      for (const use of uses)
        await assert.rejects(
          use,
          (error) => error instanceof BlobStoreError && /did not answer/.test(String(error.cause)),
        )
      assert.ok(performance.now() - before < 4_000)
      assert.equal(front.seen.length - asked, 2 * uses.length)
      await front[Symbol.asyncDispose]()
      await assert.rejects(blobs.head('kept'), BlobStoreError)
    })

    it('have more time for larger bodies', async () => {
      await using front = await startInFrontOf(served.bucket, ({ method }) =>
        method === 'PUT'
          ? (incoming, outgoing) =>
              void incoming.resume().once('end', () => setTimeout(() => outgoing.end(), 400))
          : undefined,
      )
      const blobs = await s3Blobs({ ...front.bucket, patienceMs: 100 })
      await blobs.put('large', bytes(new Uint8Array(1024 * 1024)))
      await assert.rejects(blobs.put('small', bytes('x')), BlobStoreError)
    })

    it('are whole when only the answer to their end was lost', async () => {
      let ends = 0
      await using front = await startInFrontOf(served.bucket, ({ method, url }) => {
        if (method !== 'POST' || !url.includes('uploadId')) return undefined
        ends++
        if (ends > 1) return answerStatus(404, '<Error><Code>NoSuchUpload</Code></Error>')
        return (incoming, outgoing) => {
          passTo(served.bucket, incoming).then(() => outgoing.destroy(), assert.fail)
        }
      })
      const blobs = await s3Blobs(front.bucket)
      const part = new Uint8Array(5 * 1024 * 1024)
      const { size } = await blobs.put('ended', bytes(part, part, part))
      assert.equal(ends, 2)
      assert.deepEqual(await blobs.head('ended'), { size })
    })

    it('are not there when their end fails under a good status', async () => {
      await using front = await startInFrontOf(served.bucket, ({ method, url }) =>
        method === 'POST' && url.includes('uploadId')
          ? answerStatus(200, '<Error><Code>InternalError</Code></Error>')
          : undefined,
      )
      const blobs = await s3Blobs(front.bucket)
      const part = new Uint8Array(5 * 1024 * 1024)
      await assert.rejects(blobs.put('unended', bytes(part, part)), (error) =>
        /InternalError.*unended/.test(String((error as Error).cause)),
      )
      assert.equal(await blobs.head('unended'), undefined)
      assert.equal(front.seen.filter((each) => each.startsWith('DELETE')).length, 1)
    })

    it('have an empty range where the store says that there is none', async () => {
      await using front = await startInFrontOf(served.bucket, ({ method, url }) =>
        method === 'GET' && url.endsWith('/short') ? answerStatus(416) : undefined,
      )
      const blobs = await s3Blobs(front.bucket)
      await blobs.put('short', bytes('abc'))
      const found = await blobs.get('short', { start: 3 })
      assert.deepEqual([found?.size, found && (await text(found.body))], [3, ''])
    })

    it('are listed over many pages', async () => {
      const blobs = await s3Blobs({ ...served.bucket, prefix: 'pages', pageLength: 2 })
      const keys = ['n/1', 'n/2', 'n/3', 'n/4', 'n/5']
      for (const key of keys) await blobs.put(key, bytes('x'))
      assert.deepEqual(
        (await Array.fromAsync(blobs.list('n/'))).map(({ key }) => key),
        keys,
      )
    })

    it('abort their upload when their body fails', async () => {
      await using front = await startInFrontOf(served.bucket, () => undefined)
      const blobs = await s3Blobs(front.bucket)
      const broken = async function* () {
        yield new Uint8Array(20 * 1024 * 1024)
        throw new Error('gone')
      }
      await assert.rejects(blobs.put('broken', broken()), /gone/)
      assert.ok(front.seen.some((each) => each === 'DELETE /steward-test/broken?uploadId'))
    })

    it('do not begin where the bucket or its keys are wrong', async () => {
      const { bucket } = served
      await assert.rejects(s3Blobs({ ...bucket, bucket: 'another', prefix: '' }), /NoSuchBucket/)
      await assert.rejects(
        s3Blobs({ ...bucket, accessKeyId: 'wrong', prefix: '' }),
        /InvalidAccessKeyId/,
      )
    })

    it('are not looked for at an address that the operator does not allow', async () => {
      const dispatcher = guardedAgent(operatorGuard(parseRanges('')))
      await assert.rejects(
        s3Blobs({ ...served.bucket, dispatcher, prefix: '' }),
        /private or reserved address/,
      )
    })

    it('hold two parts of a body and no more of it', async () => {
      let taken = 0
      await using front = await startInFrontOf(served.bucket, ({ url }) =>
        url.includes('partNumber') ? () => {} : undefined,
      )
      const blobs = await s3Blobs(front.bucket)
      const endless = async function* () {
        for (;;) {
          taken += 1024 * 1024
          yield new Uint8Array(1024 * 1024)
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      void blobs.put('endless', endless()).catch(() => {})
      let before = -1
      while (taken !== before) {
        before = taken
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      assert.ok(taken <= 18 * 1024 * 1024, `${taken} bytes were taken`)
    })
  })
})
