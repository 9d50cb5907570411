import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { after, before, describe, it } from 'node:test'
import { BlobStoreError } from '../core/errors.ts'
import { bytes, startInFrontOf, servedBucket, answerStatus } from './s3-fixture.ts'
import { s3Blobs } from './s3.ts'

// verifies: http/blobs-away
describe('blobs in a hostile bucket', () => {
  let served: Awaited<ReturnType<typeof servedBucket>>
  before(async () => void (served = await servedBucket()))
  after(() => served.close())

  it('are away when the store answers without an end, or gives an object without its size', async () => {
    const endless: RequestListener = (_, outgoing) => {
      outgoing.writeHead(500)
      const write = () => {
        while (!outgoing.destroyed && outgoing.write(Buffer.alloc(65_536, ' ')));
      }
      outgoing.on('drain', write)
      write()
    }
    let isBad = false
    await using front = await startInFrontOf(served.bucket, ({ url }) => {
      if (!isBad) return undefined
      return url.includes('/unsized')
        ? (_, outgoing) => void outgoing.writeHead(200).write('x')
        : endless
    })
    const blobs = await s3Blobs(front.bucket)
    isBad = true
    for (const use of [() => blobs.get('unsized'), () => blobs.get('a')])
      await assert.rejects(use, BlobStoreError)
    await assert.rejects(Array.fromAsync(blobs.list('n/')), BlobStoreError)
  })

  const xml = (inner: string): string => `<ListBucketResult>${inner}</ListBucketResult>`
  const contents = (name: string): string => `<Contents><Key>${name}</Key></Contents>`

  it('are listed by names of their own alone, each once', async () => {
    let page = ''
    await using front = await startInFrontOf(served.bucket, ({ method, url }) =>
      method === 'GET' && url.includes('max-keys') ? answerStatus(200, page) : undefined,
    )
    page = xml('')
    const blobs = await s3Blobs({ ...front.bucket, prefix: 'ours' })
    const foreign = ['', 'theirs/n/1', '../x', '//evil.example/x', 'ours/n/a?b', 'ours/n/../../x']
    page = xml([...foreign, 'ours/n/1'].map(contents).join(''))
    assert.deepEqual(
      (await Array.fromAsync(blobs.list('n/'))).map(({ key }) => key),
      ['n/1'],
    )
    assert.equal(await blobs.deleteBelow('n/'), true)
    const deleted = front.seen.filter((each) => each.startsWith('DELETE'))
    assert.deepEqual(deleted, ['DELETE /steward-test/ours/n/1'])
  })

  it('are away when a list does not go on, or is none', async () => {
    let page = xml('')
    await using front = await startInFrontOf(served.bucket, () => answerStatus(200, page))
    const blobs = await s3Blobs(front.bucket)
    const again = xml(`<IsTruncated>true</IsTruncated>${contents('n/1')}`)
    for (page of [again, xml('<IsTruncated>true</IsTruncated>'), '<html>sign in</html>'])
      await assert.rejects(Array.fromAsync(blobs.list('n/')), BlobStoreError)
    for (page of [xml('<IsTruncated>true</IsTruncated>'), '<html>sign in</html>'])
      await assert.rejects(blobs.deleteBelow('n/'), BlobStoreError)
  })

  it('are listed in time that grows with the list', async () => {
    let page = xml('')
    await using front = await startInFrontOf(served.bucket, () => answerStatus(200, page))
    const blobs = await s3Blobs(front.bucket)
    page = xml('<Contents>'.repeat(300_000))
    const before = performance.now()
    await Array.fromAsync(blobs.list('n/'))
    assert.ok(performance.now() - before < 2_000)
  })

  it('are put and deleted though the store trickles an answer that nobody reads', async () => {
    const trickle =
      (code: number): RequestListener =>
      (incoming, outgoing) => {
        incoming.resume().once('end', () => {
          outgoing.writeHead(code, { 'content-length': 50_000 }).write('<')
          const timer = setInterval(() => outgoing.write('x'), 20)
          outgoing.once('close', () => clearInterval(timer))
        })
      }
    let code = 200
    await using front = await startInFrontOf(served.bucket, ({ method }) =>
      method === 'PUT' || method === 'DELETE' ? trickle(code) : undefined,
    )
    const blobs = await s3Blobs({ ...front.bucket, patienceMs: 300 })
    const before = performance.now()
    await blobs.put('trickled', bytes('x'))
    await blobs.delete('trickled')
    for (code of [503, 403]) await assert.rejects(blobs.put('trickled', bytes('x')))
    assert.ok(performance.now() - before < 6_000)
  })

  it('are away when the store gives another range than the one asked for, or no size', async () => {
    const headers: Record<string, string>[] = [
      { 'content-range': 'bytes 0-2/10', 'content-length': '3' },
      { 'content-range': 'bytes 2-9/10', 'content-length': '8' },
      { 'content-range': 'bytes 2-4/10', 'content-length': '2' },
      { 'content-range': 'bytes 2-4/*', 'content-length': '3' },
    ]
    let given: Record<string, string> = {}
    await using front = await startInFrontOf(served.bucket, ({ method, url }) => {
      if (!url.includes('/odd')) return undefined
      if (method === 'HEAD') return (_, outgoing) => void outgoing.writeHead(200).end()
      return (_, outgoing) =>
        void outgoing.writeHead(206, given).end('x'.repeat(Number(given['content-length'])))
    })
    const blobs = await s3Blobs(front.bucket)
    for (given of headers)
      await assert.rejects(blobs.get('odd', { start: 2, end: 5 }), BlobStoreError)
    await assert.rejects(blobs.get('odd'), /206/)
    await assert.rejects(blobs.head('odd'), BlobStoreError)
  })

  it('are away when the store breaks off within one, and fail for a reader as it fails itself', async () => {
    await using front = await startInFrontOf(served.bucket, ({ method, url }) =>
      method === 'GET' && url.includes('/broken')
        ? (_, outgoing) => {
            outgoing.writeHead(200, { 'content-length': '1000' }).write('x')
            setTimeout(() => outgoing.destroy(), 20)
          }
        : undefined,
    )
    const blobs = await s3Blobs(front.bucket)
    const broken = await blobs.get('broken')
    assert.ok(broken)
    await assert.rejects(text(broken.body), BlobStoreError)
    await blobs.put('read', bytes(new Uint8Array(3 * 1024 * 1024)))
    const found = await blobs.get('read')
    assert.ok(found)
    const full = async (body: AsyncIterable<unknown>) => {
      for await (const _ of body) throw new Error('full')
    }
    await assert.rejects(pipeline(found.body, full), /full/)
    assert.ok(found.body.destroyed)
  })

  it('fail with the reason of their body where the store goes away too', async () => {
    let isAway = false
    await using front = await startInFrontOf(served.bucket, ({ method }) =>
      isAway && method === 'DELETE' ? (incoming) => incoming.socket.destroy() : undefined,
    )
    const blobs = await s3Blobs(front.bucket)
    const broken = async function* () {
      yield new Uint8Array(20 * 1024 * 1024)
      isAway = true
      throw new Error('gone')
    }
    await assert.rejects(blobs.put('broken', broken()), /gone/)
  })

  it('are not there when the answer to their end says nothing', async () => {
    let said = ' '
    await using front = await startInFrontOf(served.bucket, ({ method, url }) =>
      method === 'POST' && url.includes('uploadId') ? answerStatus(200, said) : undefined,
    )
    const blobs = await s3Blobs(front.bucket)
    const part = new Uint8Array(5 * 1024 * 1024)
    for (said of [' ', '<html>sign in</html>', '<Error xmlns="x"><Code>SlowDown</Code></Error>'])
      await assert.rejects(blobs.put('unsaid', bytes(part, part)), BlobStoreError)
  })

  it('fail with a short reason that holds no secret, whatever the store says', async () => {
    let said = ''
    await using front = await startInFrontOf(served.bucket, ({ method }) =>
      method === 'PUT'
        ? (incoming, outgoing) => {
            said = `${incoming.headers.authorization} ${'m'.repeat(100_000)}\n\u001b[2J`
            answerStatus(403, `<Error><Code>A</Code><Message>${said}</Message></Error>`)(
              incoming,
              outgoing,
            )
          }
        : undefined,
    )
    const blobs = await s3Blobs(front.bucket)
    await assert.rejects(blobs.put('secret', bytes('x')), ({ message }: Error) => {
      const signature = /Signature=(\w+)/.exec(said)?.[1] ?? assert.fail()
      assert.ok(message.length < 1000, `${message.length} characters`)
      assert.ok(!message.includes(signature) && !/\p{Cc}/u.test(message), message)
      return true
    })
  })
})
