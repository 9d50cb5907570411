import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { boot, scenarioDatabases } from '../service.ts'
import type { TestService } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const key = 'sk-a-key-that-nobody-elsewhere-sees'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the model gateway on ${database}`, () => {
    let service: TestService
    let provider: Server
    const seen: { url: string; headers: IncomingHttpHeaders; body: { model?: string } }[] = []
    before(async () => {
      service = await boot(database)
      // The model answers with the headers of its request, including the key.
      const answer = async (request: IncomingMessage, response: ServerResponse) => {
        const body = JSON.parse(await text(request)) as { model: string; stream?: boolean }
        seen.push({ url: request.url ?? '', headers: request.headers, body })
        const said = { type: 'text', text: JSON.stringify(request.headers) }
        const message = {
          ...{
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: body.model,
            content: [said],
          },
          ...{ stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
        }
        response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': key })
        response.end(JSON.stringify(message))
      }
      provider = createServer((request, response) => void answer(request, response))
      provider.listen(0, '127.0.0.1')
      await once(provider, 'listening')
    })
    after(async () => {
      provider.close()
      await service.close()
    })

    async function claimed(more: object = {}, card: object = {}) {
      const { port } = provider.address() as AddressInfo
      const model_id = fresh('card').replaceAll(' ', '-')
      const made = await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id, provider: 'ant-compatible', model: 'wire-name', api_key: key },
        base_url: `http://127.0.0.1:${port}`,
        native_config: { cost: { input: 1, output: 1 } },
        ...card,
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      const pool = await newPool(service)
      const session = await sessionIn(service, pool, { model: { id: model_id } }, more)
      const item = await poll(service, pool)
      assert.ok(item)
      const base = `${service.base}/v1/ext/model-gateway/${session}`
      const client = (token: string) =>
        new Anthropic({ baseURL: base, authToken: token, apiKey: null, maxRetries: 0 })
      return { model_id, session, base, client, token: tokenOf(item.secret) }
    }
    const ask = (client: Anthropic, model: string) =>
      client.messages.create({
        ...{ model, max_tokens: 5, messages: [{ role: 'user' as const, content: 'hello' }] },
      })

    verifies('model-cards/cloud/no-gateway', 'a model of a cloud is refused', async () => {
      const { client, token, model_id } = await claimed(
        {},
        {
          ...{ provider: 'bedrock', model: 'of.another-maker', base_url: null },
          cloud: { region: 'eu-central-1' },
        },
      )
      await assert.rejects(ask(client(token), model_id), /403.*served by bedrock/)
    })

    verifies('sessions/budget/gateway', 'a session with a budget is refused', async () => {
      const max_list_cost = { amount: '1', currency: 'USD' }
      const { model_id, client, token } = await claimed({
        budget: { type: 'limit', max_list_cost },
      })
      const before = seen.length
      await assert.rejects(ask(client(token), model_id), /403.*has a budget/)
      assert.equal(seen.length, before)
    })

    verifies(
      ['worker/model-gateway', 'secrets/subscription/not-in-sandbox'],
      'a harness elsewhere asks the model of its session, and the key is added here',
      async () => {
        const mine = await claimed()
        seen.length = 0
        const answer = await ask(mine.client(mine.token), mine.model_id)
        const [sent] = seen
        assert.deepEqual([sent?.url, sent?.body.model], ['/v1/messages', 'wire-name'])
        assert.equal(sent?.headers['x-api-key'], key)
        assert.equal(sent?.headers['authorization'], undefined, 'the token of the claim ends here')
        assert.ok(!JSON.stringify(answer).includes(key), 'an answer that repeats the key')
        assert.match(JSON.stringify(answer), /\*{20}/)
        const raw = await fetch(`${mine.base}/v1/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${mine.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'wire-name' }),
        })
        assert.equal(raw.headers.get('set-cookie'), null)
        assert.ok(!(await raw.text()).includes(key))
      },
    )

    verifies(
      'worker/model-gateway/own-model',
      'another model, another wire, another session and another token are refused',
      async () => {
        const [mine, other] = [await claimed(), await claimed()]
        seen.length = 0
        const status = (answer: Promise<unknown>) =>
          answer.then(
            () => 200,
            (error: { status?: number }) => error.status,
          )
        assert.equal(await status(ask(mine.client(mine.token), 'gpt-9')), 403)
        assert.equal(await status(ask(mine.client(mine.token), other.model_id)), 403)
        assert.equal(await status(ask(mine.client(other.token), mine.model_id)), 403)
        assert.equal(await status(ask(mine.client('stw_claim_x.y'), mine.model_id)), 401)
        const workspace = new Anthropic({ baseURL: mine.base, apiKey: 'conformance-admin-key' })
        assert.equal(await status(ask(workspace, mine.model_id)), 403)
        const chat = await fetch(`${mine.base}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${mine.token}` },
          body: JSON.stringify({ model: mine.model_id }),
        })
        assert.equal(chat.status, 403)
        assert.match(await chat.text(), /speaks anthropic-messages/)
        assert.equal(seen.length, 0)
      },
    )
  })
}
