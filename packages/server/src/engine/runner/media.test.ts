import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { guardedAgent, parseTargets, tenantGuard } from '../../ground/core/security/dial.ts'
import { unusedKeeping } from '../../ground/blobs/fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { databases } from '../../ground/database/fixture.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { mediaLoader } from './media.ts'

const pixel = Buffer.from('89504e470d0a1a0a', 'hex')

const server = createServer((request, response) => {
  const type = request.url === '/page' ? 'text/html' : 'image/png; x=1'
  if (request.url === '/away') {
    response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
  } else if (request.url === '/missing') {
    response.writeHead(404).end()
  } else if (request.url === '/large') {
    response.writeHead(200, { 'content-type': type })
    response.end(Buffer.alloc(21 * 1024 * 1024))
  } else {
    response.writeHead(200, { 'content-type': type }).end(pixel)
  }
})

describe('content that is named by its URL', () => {
  const before_ = getGlobalDispatcher()
  let base = ''
  let opened: TestDatabase
  before(async () => {
    opened = await databases.sqlite()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    setGlobalDispatcher(guardedAgent(tenantGuard(parseTargets('127.0.0.1:*'))))
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    setGlobalDispatcher(before_)
    server.closeAllConnections()
    server.close()
  })

  const image = (url: string) => {
    const one = oneDatabase(opened.database)
    const { blobs } = unusedKeeping(one)
    const bring = mediaLoader({ databases: one, blobs, clock: systemClock }, 'wrkspc_a')
    return bring({ kind: 'image', source: { type: 'url', url } })
  }
  const refusal = async (url: string) => {
    const brought = await image(url)
    return brought.ok ? 'brought' : brought.message
  }

  it('is loaded with its type', async () => {
    const expected = { ok: true, media_type: 'image/png', data: pixel.toString('base64') }
    assert.deepEqual(await image(`${base}/pixel`), expected)
  })

  it('is not loaded when it is of another type, missing or too large', async () => {
    assert.match(await refusal(`${base}/page`), /text\/html is no image/)
    assert.match(await refusal(`${base}/missing`), /404/)
    assert.match(await refusal(`${base}/large`), /larger than/)
    assert.match(await refusal('file:///etc/passwd'), /only http/)
  })

  it('is not fetched from a private address, neither at once nor behind a redirect', async () => {
    assert.match(await refusal('http://10.0.0.1/x'), /private or reserved/)
    assert.match(await refusal(`${base}/away`), /private or reserved/)
    assert.match(await refusal('http://[::1]:8080/x'), /private or reserved/)
  })
})
