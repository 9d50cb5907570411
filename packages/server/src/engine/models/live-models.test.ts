import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { liveModels } from './live-models.ts'

function* endless() {
  for (;;) yield Buffer.alloc(1024 * 1024, ' ')
}

const asked: string[] = []
const server = createServer((request, response) => {
  const key = request.headers['x-api-key'] ?? request.headers.authorization
  asked.push(`${request.url} ${String(key)}`)
  if (String(key).includes('bad')) return void response.writeHead(401).end()
  if (String(key).includes('endless')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return void Readable.from(endless())
      .on('error', () => {})
      .pipe(response)
  }
  const body = String(key).includes('odd') ? '[]' : JSON.stringify({ data: [{ id: 'm-1' }] })
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})

describe("a provider's own list of models", () => {
  let baseUrl = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const ask = (provider: string, key: string) => {
    const endpoint = { apiKey: 'the operator’s own', baseUrl }
    return liveModels(provider, key, { anthropic: endpoint, openai: endpoint, google: undefined })
  }

  // verifies: models/catalog/live
  it('is asked for with the key that was given, in the way of its family', async () => {
    const expected = [{ id: 'm-1', display_name: 'm-1' }]
    assert.deepEqual(await ask('anthropic', 'one'), expected)
    assert.deepEqual(await ask('openai', 'two'), expected)
    assert.deepEqual(asked, ['/v1/models one', '/v1/models Bearer two'])
  })

  it('is refused by name when the provider refuses the key, or has no list of models', async () => {
    await assert.rejects(ask('openai', 'bad'), /api_key: 127\.0\.0\.1:\d+ answered 401/)
    await assert.rejects(ask('anthropic', 'odd'), /no list of models/)
    await assert.rejects(ask('openai', 'endless'), /no list of models/)
    await assert.rejects(ask('google', 'x'), /api_key: live discovery for provider google/)
  })
})
