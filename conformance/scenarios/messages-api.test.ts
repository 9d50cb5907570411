import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { countedUsage, failureOf, hello, shortAsk } from '../messages-api.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const cardKey = 'sk-card-key-that-no-caller-sees'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`/v1/messages on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let chat: StubModel
    let client: Anthropic
    before(async () => {
      service = await boot(database, { env: { MESSAGES_API: 'true' } })
      client = new Anthropic({ baseURL: service.base, apiKey: adminKey, maxRetries: 0 })
      stub = await startStub(anthropicDialect)
      chat = await startStub(openaiChatDialect)
    })
    after(async () => {
      await service.close()
      await Promise.all([stub[Symbol.asyncDispose](), chat[Symbol.asyncDispose]()])
    })

    async function chatModel(): Promise<string> {
      const model_id = fresh('chat').replace(' ', '-')
      chat.replies(says('OK', { input: 0, output: 0 }))
      const { status, body } = await service.ask('POST', '/v1/ext/model_cards', {
        model_id,
        provider: 'oai-compatible',
        model: 'stub-chat',
        base_url: chat.url,
        api_key: cardKey,
        native_config: { api: 'openai-completions', input: ['text', 'image'] },
      })
      assert.equal(status, 200, JSON.stringify(body))
      return model_id
    }

    verifies(
      ['messages/create', 'messages/model'],
      'the official clients get messages, old and new',
      async () => {
        const request = { model: 'offline', ...shortAsk }
        const { client: newest, oldest } = service
        const answers = [
          [
            await newest.messages.create(request),
            await newest.messages.stream(request).finalMessage(),
          ],
          [
            await oldest.messages.create(request),
            await oldest.messages.stream(request).finalMessage(),
          ],
          [
            await newest.beta.messages.create(request),
            await oldest.beta.messages.stream(request).finalMessage(),
          ],
        ] as const
        for (const [whole, streamed] of answers) {
          assert.deepEqual(
            [whole.type, whole.role, whole.model, whole.stop_reason],
            ['message', 'assistant', 'offline', 'end_turn'],
          )
          assert.deepEqual(streamed.content[0], whole.content[0])
          assert.deepEqual(streamed.usage, whole.usage)
        }
        assert.equal(
          (await failureOf(client.messages.create({ model: 'nobody-has-it', ...shortAsk }))).status,
          404,
        )
      },
    )

    verifies(
      ['messages/passed-on', 'messages/stream'],
      'a model of the same wire is asked and answers as it would without this service',
      async () => {
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        stub.replies({
          blocks: [
            { type: 'thinking', pieces: ['hm', 'm'], signature: 'a signature' },
            { type: 'text', pieces: ['Hi ', 'there'] },
            { type: 'tool_call', id: 'toolu_1', name: 'look_up', pieces: ['{"what"', ':"x"}'] },
          ],
          stop: 'tool_use',
          usage: { input: 7, output: 3, cacheRead: 2, cacheWrite: 1 },
        })
        const events: string[] = []
        const request = {
          model,
          ...shortAsk,
          system: [
            {
              type: 'text' as const,
              text: 'Be short.',
              cache_control: { type: 'ephemeral' as const },
            },
          ],
          metadata: { user_id: 'of the caller' },
          thinking: { type: 'enabled' as const, budget_tokens: 1024 },
          tools: [{ name: 'look_up', input_schema: { type: 'object' as const } }],
        }
        const stream = client.messages
          .stream(request, {
            headers: { 'anthropic-beta': 'some-beta-2026-01-01', 'x-of-the-caller': 'stays here' },
          })
          .on('streamEvent', ({ type }) => void events.push(type))
        const message = await stream.finalMessage()
        assert.deepEqual(
          message.content.map((block) => block.type),
          ['thinking', 'text', 'tool_use'],
        )
        assert.deepEqual(message.content[0], {
          type: 'thinking',
          thinking: 'hmm',
          signature: 'a signature',
        })
        assert.deepEqual(
          [message.model, message.stop_reason, message.usage.cache_read_input_tokens],
          [model, 'tool_use', 2],
        )
        assert.equal(events[0], 'message_start')
        assert.deepEqual(events.slice(-2), ['message_delta', 'message_stop'])
        const sent = stub.requests.at(-1)
        assert.deepEqual(sent?.body, { ...request, stream: true, model: 'stub-1' })
        assert.equal(sent?.headers['x-api-key'], 'key')
        assert.equal(sent?.headers['anthropic-beta'], 'some-beta-2026-01-01')
        assert.match(String(sent?.headers['anthropic-version']), /^\d{4}-/)
        assert.ok(!JSON.stringify(sent).includes(adminKey), 'the key of the caller ends here')
        assert.equal(sent?.headers['x-of-the-caller'], undefined)
        const row = await countedUsage(service, model)
        assert.deepEqual([row.requests, row.input_tokens, row.output_tokens], [1, 7, 3])
      },
    )

    verifies(
      ['messages/translated', 'messages/whole-calls'],
      'a model of another wire is asked in its words and answers in those of the caller',
      async () => {
        const model = await chatModel()
        chat.replies({
          blocks: [
            { type: 'text', pieces: ['Looking.'] },
            { type: 'tool_call', id: 'call_1', name: 'look_up', pieces: ['{"what"', ':"x"}'] },
          ],
          stop: 'tool_use',
          usage: { input: 9, output: 4 },
        })
        const image = {
          type: 'base64' as const,
          media_type: 'image/png' as const,
          data: 'iVBORw0KGgo=',
        }
        const request = {
          model,
          max_tokens: 50,
          system: 'Be short.',
          temperature: 0.5,
          stop_sequences: ['END'],
          tool_choice: { type: 'any' as const, disable_parallel_tool_use: true },
          tools: [
            { name: 'look_up', description: 'looks up', input_schema: { type: 'object' as const } },
          ],
          messages: [
            {
              role: 'user' as const,
              content: [
                { type: 'text' as const, text: 'one' },
                { type: 'image' as const, source: image },
              ],
            },
            {
              role: 'assistant' as const,
              content: [
                { type: 'tool_use' as const, id: 'call_0', name: 'look_up', input: { what: 'y' } },
              ],
            },
            {
              role: 'user' as const,
              content: [
                {
                  type: 'tool_result' as const,
                  tool_use_id: 'call_0',
                  content: 'found',
                  is_error: false,
                },
                { type: 'text' as const, text: 'two' },
              ],
            },
          ],
        }
        const whole = await client.messages.create(request)
        const { body } = chat.requests.at(-1) ?? assert.fail('nothing was asked')
        assert.deepEqual(
          [
            body['model'],
            body['temperature'],
            body['stop'],
            body['tool_choice'],
            body['parallel_tool_calls'],
          ],
          ['stub-chat', 0.5, ['END'], 'required', false],
        )
        assert.match(JSON.stringify(body['messages']), /Be short.*one.*iVBOR.*call_0.*found.*two/)
        assert.deepEqual(whole.content, [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'call_1', name: 'look_up', input: { what: 'x' } },
        ])
        assert.deepEqual(
          [whole.stop_reason, whole.usage.input_tokens, whole.usage.output_tokens],
          ['tool_use', 9, 4],
        )
        const streamed = await client.messages.stream(request).finalMessage()
        assert.deepEqual(streamed.content, whole.content)
        assert.equal(streamed.usage.input_tokens, 9)
        chat.replies({
          blocks: [
            { type: 'tool_call', id: 'call_2', name: 'look_up', pieces: ['{"what": "broken'] },
          ],
          stop: 'tool_use',
        })
        assert.match((await failureOf(client.messages.create(request))).message, /is not whole/)
      },
    )

    verifies(
      'messages/refusals',
      'what cannot be counted, or what the wire cannot say, is refused by name',
      async () => {
        const model = await pricedModel(service, stub, undefined)
        const before = stub.requests.length
        const refused = async (more: object, words: RegExp, of = model) => {
          const { status, body } = await service.ask('POST', '/v1/messages', {
            model: of,
            ...shortAsk,
            ...more,
          })
          assert.equal(status, 400)
          assert.match(JSON.stringify(body), words)
        }
        await refused(
          { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
          /tools\.0\.type: web_search_20250305 is run by the provider/,
        )
        await refused(
          { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
          /mcp_servers: is not supported/,
        )
        await refused({ container: 'c' }, /container: is not supported/)
        await refused({ speed: 'fast' }, /speed: must be standard/)
        await refused(
          { context_management: { edits: [{ type: 'compact_20260112' }] } },
          /context_management\.edits\.0\.type: is not supported/,
        )
        await refused({ surprise: 1 }, /surprise/)
        const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } }
        await refused(
          { messages: [{ role: 'user', content: [file] }] },
          /messages\.0\.content\.0\.source: files are not known/,
        )
        const searched = { type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }
        await refused(
          { messages: [...hello, { role: 'assistant', content: [searched] }] },
          /messages\.1\.content\.0\.type: server_tool_use/,
        )
        await refused({ temperature: 0.5 }, /temperature: a model that speaks offline/, 'offline')
        await refused({ top_k: 3 }, /top_k: this model has no such field/, 'offline')
        await refused(
          { tool_choice: { type: 'any' } },
          /tool_choice: a model that speaks offline/,
          'offline',
        )
        assert.equal(stub.requests.length, before)
      },
    )

    verifies(
      'messages/errors',
      'the errors of a provider are those that the official client expects',
      async () => {
        for (const [model, of] of [
          [await pricedModel(service, stub, undefined), stub],
          [await chatModel(), chat],
        ] as const) {
          const failed = (status: number, error: string, headers = {}) => {
            of.replies({ status, error, message: 'so it is', headers })
            return failureOf(client.messages.create({ model, ...shortAsk }))
          }
          const bad = await failed(400, 'invalid_request_error')
          assert.deepEqual([bad.status, bad.type], [400, 'invalid_request_error'])
          assert.match(bad.message, /so it is/)
          assert.match(String(bad.requestId), /^req_/)
          const refusedKey = await failed(401, 'authentication_error')
          assert.deepEqual([refusedKey.status, refusedKey.type], [502, 'api_error'])
          assert.match(refusedKey.message, /refuses the key of the model/)
          const limited = await failed(429, 'rate_limit_error', { 'retry-after': '7' })
          assert.deepEqual([limited.status, limited.type], [429, 'rate_limit_error'])
          const overloaded = await failed(529, 'overloaded_error')
          assert.deepEqual([overloaded.status, overloaded.type], [503, 'overloaded_error'])
          const streamed = client.messages.stream({ model, ...shortAsk }).finalMessage()
          assert.equal((await failureOf(streamed)).status, 503)
        }
        const model = await pricedModel(service, stub, undefined)
        stub.replies({ answer: says('half', { input: 1, output: 1 }), frames: 3, after: 'cut' })
        await assert.rejects(
          client.messages.stream({ model, ...shortAsk }).finalMessage(),
          /broke off/,
        )
      },
    )

    verifies(
      'messages/count-tokens',
      'the provider counts, or the answer says that it is an estimate',
      async () => {
        const model = await pricedModel(service, stub, undefined)
        stub.replies({ body: '{"input_tokens": 1234}', contentType: 'application/json' })
        assert.deepEqual(await client.messages.countTokens({ model, messages: hello }), {
          input_tokens: 1234,
        })
        assert.equal(stub.requests.at(-1)?.path, '/v1/messages/count_tokens')
        stub.replies({ status: 404, error: 'not_found_error', message: 'no such path' })
        for (const each of [model, 'offline']) {
          const counted = await client.messages.countTokens({ model: each, messages: hello })
          assert.partialDeepStrictEqual(counted, { is_estimate: true })
          assert.ok(counted.input_tokens > 0)
        }
      },
    )

    verifies(
      'messages/off',
      'batches are refused by name, and everything is where the setting is off',
      async () => {
        const batches = await service.ask('POST', '/v1/messages/batches', {})
        assert.equal(batches.status, 404)
        assert.match(JSON.stringify(batches.body), /message batches are not offered/)
        const without = await boot(database)
        try {
          for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
            const { status, body } = await without.ask('POST', path, {
              model: 'offline',
              ...shortAsk,
            })
            assert.equal(status, 404)
            assert.match(JSON.stringify(body), /the Messages API is not offered by this service/)
          }
        } finally {
          await without.close()
        }
      },
    )
  })
}
