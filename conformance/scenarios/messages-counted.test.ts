import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { MessageUsage } from '../messages-api.ts'
import { countedUsage, failureOf, hello, shortAsk } from '../messages-api.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`what requests of /v1/messages count as, on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let client: Anthropic
    before(async () => {
      service = await boot(database, { env: { MESSAGES_API: 'true' } })
      client = new Anthropic({ baseURL: service.base, apiKey: adminKey, maxRetries: 0 })
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    verifies(
      'messages/left',
      'a caller that goes away ends the request, and what it used is counted',
      async () => {
        const closed = Promise.withResolvers<void>()
        const provider = await startSlowProvider(closed.resolve)
        const { port } = provider.address() as AddressInfo
        const model = await pricedModel(
          service,
          { ...stub, url: `http://127.0.0.1:${port}` },
          { input: 1, output: 1 },
        )
        const stream = await client.messages.create({ model, ...shortAsk, stream: true })
        for await (const event of stream) if (event.type === 'content_block_delta') break
        await closed.promise
        const row = await countedUsage(service, model)
        assert.equal(row.input_tokens, 40)
        assert.ok(row.output_tokens >= 1)
        provider.closeAllConnections()
        provider.close()
      },
    )

    verifies('messages/audit', 'each request has a line without its contents', async () => {
      const messages = [{ role: 'user' as const, content: 'say: a word that the audit lacks' }]
      const { id } = await client.messages.create({ ...shortAsk, model: 'offline', messages })
      const lines = await service.ask('GET', '/v1/ext/audit?action=message.create')
      const line = lines.body.data.find(
        (each) => each['resource_id'] === id || JSON.stringify(each).includes(id),
      )
      assert.ok(line, JSON.stringify(lines.body))
      assert.ok(!JSON.stringify(lines.body).includes('a word that the audit lacks'))
      assert.ok(JSON.stringify(line).includes('"offline"'))
    })

    verifies('messages/spend', 'a spend limit refuses before, and counts after', async () => {
      const { key } = await service.otherWorkspace(fresh('spender'))
      const own = { authorization: `Bearer ${key}` }
      const official = new Anthropic({ baseURL: service.base, apiKey: key, maxRetries: 0 })
      const card = {
        provider: 'ant-compatible',
        model: 'stub-1',
        base_url: stub.url,
        api_key: 'key',
      }
      stub.replies(says('OK', { input: 0, output: 0 }))
      for (const [model_id, cost] of [
        ['dear', { input: 1_000, output: 1_000 }],
        ['free', undefined],
      ] as const) {
        const { status } = await service.ask(
          'POST',
          '/v1/ext/model_cards',
          { ...card, model_id, native_config: { cost } },
          own,
        )
        assert.equal(status, 200)
      }
      const limit = {
        scope: { type: 'workspace' },
        amount: '15',
        period: 'daily',
        is_enabled: true,
      }
      const set = await service.ask(
        'POST',
        '/v1/organizations/spend_limits',
        { ...limit, scope: undefined },
        own,
      )
      assert.equal(set.status, 200, JSON.stringify(set.body))
      assert.match(
        (await failureOf(official.messages.create({ model: 'free', ...shortAsk }))).message,
        /no price/,
      )
      stub.replies(says('dear', { input: 150, output: 50 }))
      await official.messages.stream({ model: 'dear', ...shortAsk }).finalMessage()
      const before = stub.requests.length
      const refused = await failureOf(official.messages.create({ model: 'dear', ...shortAsk }))
      assert.deepEqual([refused.status, refused.type], [403, 'billing_error'])
      assert.match(refused.message, /spend limit/)
      assert.equal(stub.requests.length, before)
    })

    verifies(
      ['messages/switch', 'messages/usage'],
      'an admin switches them off for a workspace',
      async () => {
        const { key } = await service.otherWorkspace(fresh('without'))
        const own = { authorization: `Bearer ${key}` }
        const official = new Anthropic({ baseURL: service.base, apiKey: key, maxRetries: 0 })
        await official.messages.create({ model: 'offline', ...shortAsk })
        const today = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`
        const report = await service.ask<{ data: { results: MessageUsage[] }[] }>(
          'GET',
          `/v1/organizations/usage_report/messages?group_by[]=api_key_id&group_by[]=model&starting_at=${today}`,
          undefined,
          own,
        )
        const [row] = report.body.data.flatMap(({ results }) => results)
        assert.match(String(row?.api_key_id), /^apikey_/)
        assert.equal(row?.model, 'offline')
        const off = await service.ask('POST', '/v1/ext/quotas/messages', { limit: 0 }, own)
        assert.equal(off.status, 200, JSON.stringify(off.body))
        const refused = await failureOf(official.messages.create({ model: 'offline', ...shortAsk }))
        assert.deepEqual([refused.status, refused.type], [403, 'permission_error'])
        assert.match(refused.message, /switched off for this workspace/)
        await client.messages.create({ model: 'offline', ...shortAsk })
      },
    )

    verifies(
      ['messages/rate', 'messages/who'],
      'requests have a class of rates, and callers who may only read are refused',
      async () => {
        const limits = { RATE_LIMITS: 'messages:1/h', MESSAGES_API: 'true' }
        const limited = await boot(database, { env: limits })
        try {
          const { client: official } = limited
          await official.messages.create({ model: 'offline', ...shortAsk })
          const second = official.messages.create(
            { model: 'offline', ...shortAsk },
            { maxRetries: 0 },
          )
          const { status, type } = await failureOf(second)
          assert.deepEqual([status, type], [429, 'rate_limit_error'])
        } finally {
          await limited.close()
        }
        const made = await service.ask('POST', '/v1/ext/api_keys', {
          name: fresh('reader'),
          read_only: true,
        })
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const reader = new Anthropic({ baseURL: service.base, apiKey: String(made.body['key']) })
        const asked = reader.messages.create({ model: 'offline', ...shortAsk })
        assert.equal((await failureOf(asked)).status, 403)
        const counted = reader.messages.countTokens({ model: 'offline', messages: hello })
        assert.equal((await failureOf(counted)).status, 403)
      },
    )
  })
}

/** Speaks a word and waits for ever. `left` is called when its caller has gone. */
async function startSlowProvider(left: () => void): Promise<Server> {
  let requests = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    await text(request)
    const frames = anthropicDialect.frames(says('a word and no more', { input: 40, output: 9 }))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // The first request tries the card.
    if (requests++ === 0) return void response.end(frames.join(''))
    response.on('close', left)
    response.write(frames.slice(0, 3).join(''))
  }
  const provider = createServer((request, response) => void answer(request, response))
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  return provider
}
