/** Model endpoints that never stop, or whose answers are malformed. */
import assert from 'node:assert/strict'
import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, describe } from 'node:test'
import { errorsOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, fresh, idleOf, newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const piece = Buffer.alloc(256 * 1024, 'x')
function* endless() {
  for (;;) yield piece
}
const pour = (response: ServerResponse) =>
  pipeline(Readable.from(endless()), response).catch(() => {})

const answers: Record<string, (response: ServerResponse) => unknown> = {
  error(response) {
    response.writeHead(400, { 'content-type': 'application/json' })
    return pour(response)
  },
  event(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: "')
    return pour(response)
  },
  redirect: (response) =>
    response.writeHead(308, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  page(response) {
    response.writeHead(200, { 'content-type': 'text/html' })
    return pour(response)
  },
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`answers of a model's endpoint, on ${database}`, () => {
    let service: TestService
    let endpoint: Server
    before(async () => {
      service = await boot(database)
      endpoint = createServer((request, response) => {
        request.resume()
        void answers[request.url?.split('/')[1] ?? '']?.(response)
      })
      endpoint.listen(0, '127.0.0.1')
      await once(endpoint, 'listening')
    })
    after(async () => {
      endpoint.closeAllConnections()
      endpoint.close()
      await service.close()
    })

    async function card(answer: string): Promise<string> {
      const { port } = endpoint.address() as AddressInfo
      const model_id = fresh('card').replaceAll(' ', '-')
      const made = await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id, provider: 'openrouter', model: 'm', api_key: 'sk-0123456789' },
        ...{
          base_url: `http://127.0.0.1:${port}/${answer}`,
          native_config: { api: 'openai-completions' },
        },
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return model_id
    }
    async function failed(answer: string): Promise<string> {
      const session = await newSession(service, { model: await card(answer) })
      const events = await turn(service, session, 'hello')
      assert.deepEqual(idleOf(events).stop_reason, { type: 'retries_exhausted' })
      assert.equal(all(events, 'session.error').length, 1, 'it is not asked again')
      return errorsOf(events)[0] ?? ''
    }

    verifies(
      'models/answers/bounded',
      'that does not end is given up, and the session told why',
      async () => {
        const long = await failed('error')
        assert.match(long, /^model_request_failed_error .*400/)
        assert.ok(long.length < 2_200)
        assert.match(await failed('event'), /an event of more than 2097152 bytes/)
      },
    )

    verifies('models/name', 'come from no other place than its base URL names', async () => {
      const { port } = endpoint.address() as AddressInfo
      for (const model of ['../../x', 'a/../b', 'a/.\t./b', 'a?b', 'a#b', 'a%2fb', 'a\nb']) {
        const made = await service.ask('POST', '/v1/ext/model_cards', {
          ...{ model_id: fresh('card'), provider: 'nobody', model, api_key: 'sk-0123456789' },
          base_url: `http://127.0.0.1:${port}/error`,
          native_config: { api: 'google-generative-ai' },
        })
        assert.equal(made.status, 400, model)
        assert.match(JSON.stringify(made.body), /model: may hold no/)
        const session = await newSession(service, { model: `google/${model}` })
        const events = await turn(service, session, 'hello')
        assert.match(errorsOf(events)[0] ?? '', /model: may hold no .* away from base_url/)
      }
    })

    verifies(
      'models/answers/redirects',
      'that leads elsewhere is not followed, and where to is said',
      async () => {
        assert.match(await failed('redirect'), /redirect \(308\) to http:\/\/169\.254\.169\.254,/)
      },
    )

    verifies(
      'worker/model-gateway/bounded',
      'is broken off where it is only passed on, too',
      async () => {
        const model = await card('error')
        const pool = await newPool(service)
        const session = await sessionIn(service, pool, { model })
        const item = await poll(service, pool)
        assert.ok(item)
        const url = `${service.base}/v1/ext/model-gateway/${session}/v1/chat/completions`
        const answer = await fetch(url, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${tokenOf(item.secret)}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ model }),
        })
        assert.equal(answer.status, 400)
        await assert.rejects(answer.text())
      },
    )
  })
}
