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

const tools = [{ type: 'agent_toolset_20260401' }] as const
/** Answers of chat completions, one for each request. */
const scripts: Record<string, string[]> = {}
const chunk = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const callOf = (name: string, args: unknown, id?: string) => ({
  tool_calls: [{ index: 0, ...(id !== undefined && { id }), function: { name, arguments: args } }],
})
const silence = ': and no more\n\n'
const mark = 'data: [DONE]\n\n'
const calls = (...made: object[]) =>
  [...made.map((each) => chunk(each)), chunk({}, 'tool_calls'), mark].join('')
const words = (text: string) => `${chunk({ content: text })}${chunk({}, 'stop')}${mark}`

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
    const asked: string[] = []
    before(async () => {
      service = await boot(database, { env: { MODEL_SILENCE_SECONDS: '3' } })
      endpoint = createServer((request, response) => {
        const route = request.url?.split('/')[1] ?? ''
        const script = scripts[route]
        if (!script) {
          request.resume()
          return void answers[route]?.(response)
        }
        const bytes: Buffer[] = []
        request.on('data', (some: Buffer) => bytes.push(some))
        request.on('end', () => {
          asked.push(Buffer.concat(bytes).toString())
          const next = script.length > 1 ? script.shift() : script[0]
          // The answer stops in its midst, and the connection stays.
          const isSilent = next?.endsWith(silence) ?? false
          const isRefusal = next?.startsWith('{') ?? false
          const type = isRefusal ? 'application/json' : 'text/event-stream'
          response.writeHead(isRefusal ? 400 : 200, { 'content-type': type }).write(next ?? '')
          if (!isSilent) response.end()
        })
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
          native_config: { api: 'openai-completions', input: ['text', 'image'] },
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
      'that do not end are given up, and the session says why',
      async () => {
        const long = await failed('error')
        assert.match(long, /^model_request_failed_error .*400/)
        assert.ok(long.length < 2_400)
        assert.match(await failed('event'), /an event of more than 2097152 bytes/)
      },
    )

    /** The events of a turn with these answers, and the requests of the turn. */
    async function scripted(...script: string[]) {
      const route = fresh('script').replaceAll(' ', '-')
      scripts[route] = script
      const session = await newSession(service, { model: await card(route), tools })
      asked.length = 0
      const events = await turn(service, session, 'hello')
      return { events, session, requests: [...asked] }
    }
    const resultsOf = (events: Awaited<ReturnType<typeof turn>>) =>
      all(events, 'agent.tool_result').map(({ content, is_error }) => ({
        text: JSON.stringify(content),
        is_error,
      }))

    verifies('models/answers/whole-inputs', 'run no call whose input is not whole', async () => {
      const { events } = await scripted(
        calls(callOf('bash', '{"command":"echo ran > ran', 'a')),
        calls(callOf('bash', '{"command":"touch x","timeout_ms": abc}', 'b')),
        calls(callOf('bash', '{"command":"ls -A"}\n', 'c')),
        words('Done.'),
      )
      const [cut, dropped, whole] = resultsOf(events)
      assert.match(cut?.text ?? '', /not whole JSON: it ends before its object is closed/)
      assert.match(dropped?.text ?? '', /not whole JSON.*abc/)
      assert.deepEqual([cut?.is_error, dropped?.is_error], [true, true])
      assert.match(whole?.text ?? '', /\(no output\)/)
      assert.deepEqual(all(events, 'agent.tool_use')[0]?.input, {})
    })

    verifies('models/answers/silence', 'that fall silent are asked for again', async () => {
      const { events, requests } = await scripted(
        `${chunk({ content: 'Half' })}${silence}`,
        words('Whole.'),
      )
      assert.match(errorsOf(events)[0] ?? '', /sent nothing for 3 s/)
      assert.match(JSON.stringify(all(events, 'agent.message')), /Whole\./)
      assert.equal(requests.length, 2)
    })

    verifies('models/answers/never-whole', 'end a turn of calls that are never whole', async () => {
      const { events, requests } = await scripted(calls(callOf('bash', '{"command":"echo', 'a')))
      assert.equal(requests.length, 5)
      assert.match(errorsOf(events)[0] ?? '', /^tool_use_limit_reached_error .*5 answers in a row/)
      assert.deepEqual(idleOf(events).stop_reason, { type: 'retries_exhausted' })
    })

    verifies('models/answers/dialects', 'lose no call and no text to a dialect', async () => {
      const { events, requests } = await scripted(
        [
          chunk(callOf('bash', { command: 'echo one' })),
          chunk(callOf('bash', { command: 'echo two' })),
          mark,
        ].join(''),
        [chunk({ content: [{ type: 'text', text: 'Both.' }] }), mark].join(''),
      )
      const ran = resultsOf(events).map(({ text }) => /one|two/.exec(text)?.[0])
      assert.deepEqual(
        ran.toSorted((a = '', b = '') => a.localeCompare(b)),
        ['one', 'two'],
      )
      assert.match(JSON.stringify(all(events, 'agent.message')), /Both\./)
      assert.equal(requests.length, 2)
    })

    verifies('models/requests/fitted', 'are sent back as providers take them', async () => {
      const { events, requests } = await scripted(
        calls(callOf('multi_tool_use.parallel', '{}', 'call_0')),
        calls(callOf('bash', '{"command":"printf \'\\\\r\\\\n\'"}', 'call_0')),
        words('x \ud83d y'),
      )
      const last = JSON.parse(requests.at(-1) ?? '{}') as { messages: Record<string, unknown>[] }
      const made = last.messages.flatMap(
        ({ tool_calls }) => (tool_calls ?? []) as { id: string; function: { name: string } }[],
      )
      assert.deepEqual(
        made.map((each) => each.function.name),
        ['multi_tool_use_parallel', 'bash'],
      )
      assert.equal(new Set(made.map(({ id }) => id)).size, 2)
      const results = last.messages.filter(({ role }) => role === 'tool')
      assert.equal(results.at(-1)?.content, '(no output)')
      assert.equal(all(events, 'agent.tool_use')[0]?.name, 'multi_tool_use.parallel')
      assert.match(JSON.stringify(all(events, 'agent.message')), /x \ufffd y/)
    })

    verifies(
      'models/requests/refused-part',
      'are asked for once more without what was refused',
      async () => {
        const refusal = JSON.stringify({
          error: { message: 'Could not process image', type: 'invalid_request_error' },
        })
        const script = fresh('script').replaceAll(' ', '-')
        scripts[script] = [refusal, words('Without.'), refusal]
        const session = await newSession(service, { model: await card(script) })
        const data = Buffer.from('\x89PNG\r\n\x1a\nand no more', 'latin1').toString('base64')
        const source = { type: 'base64', media_type: 'image/png', data } as const
        const content = [{ type: 'image' as const, source }]
        const events = await turn(service, session, { type: 'user.message', content })
        assert.deepEqual(idleOf(events).stop_reason, { type: 'end_turn' })
        const later = await turn(service, session, 'hello')
        assert.match(
          errorsOf(later)[0] ?? '',
          /Could not process image .*fork the session with `at_seq`/,
        )
      },
    )

    verifies('models/name', 'come only from the path that its base URL names', async () => {
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
