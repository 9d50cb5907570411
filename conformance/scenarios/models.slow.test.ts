import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, logOf, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const secret = 'sk-canary-0123456789abcdef'
const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`model cards on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const path = '/v1/ext/model_cards'
    const card = (more: object = {}) => ({
      model_id: fresh('handle').replace(' ', '-'),
      provider: 'ant-compatible',
      model: 'stub-1',
      base_url: stub.url,
      api_key: secret,
      ...more,
    })
    async function make(more: object = {}) {
      stub.replies(says('OK'))
      const made = await service.ask('POST', path, card(more))
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body
    }
    const refused = async (more: object, words: RegExp) => {
      const { status, body } = await service.ask('POST', path, card(more))
      assert.equal(status, 400)
      assert.match(String((body['error'] as LooseBody)['message']), words)
    }

    verifies(
      ['model-cards/without-key', 'model-cards/base-url', 'model-cards/unknown-provider'],
      'a card needs no key for a server of your own, and says what it may be called',
      async () => {
        const made = await make({ api_key: undefined })
        const probe = made['probe'] as LooseBody
        assert.deepEqual([probe['ok'], probe['url']], [true, `${stub.url}/v1/messages`])
        const whole = await make({ api_key: '', base_url: `${stub.url}/v1/messages` })
        assert.equal((whole['probe'] as LooseBody)['url'], `${stub.url}/v1/messages`)
        const exact = await make({
          provider: 'acme',
          native_config: { api: 'openai-completions', exactBaseUrl: true },
          base_url: `${stub.url}/inference`,
        })
        const tried = await service.ask('POST', `${path}/${exact.id}/probe`)
        assert.equal(tried.body['url'], `${stub.url}/inference/chat/completions`)
        await refused({ provider: 'groq', api_key: undefined, base_url: undefined }, /^api_key: is/)
        await refused({ provider: 'gemini' }, /'gemini' is not known\. Do you mean google\?/)
      },
    )

    verifies('secrets/subscription/not-stored', 'a subscription credential makes no card', () =>
      refused({ api_key: 'sk-ant-oat01-canary' }, /subscription/),
    )

    verifies(
      [
        'model-cards/create',
        'model-cards/list',
        'model-cards/field/model-id',
        'model-cards/field/provider',
        'model-cards/field/model',
        'model-cards/field/display-name',
        'model-cards/field/base-url',
        'model-cards/field/custom-headers',
        'model-cards/field/api-key',
        'model-cards/field/native-config',
        'model-cards/key/sealed',
        'model-cards/provider/aliases',
        'secrets/model-card-keys',
        'secrets/key-id',
      ],
      'a card is shown without its secrets, which are sealed',
      async () => {
        const made = await make({
          display_name: 'Stub One',
          custom_headers: { 'x-team': 'canary-header' },
          native_config: { contextWindow: 1000, maxTokens: 100 },
        })
        assert.deepEqual(made['probe'], { ok: true, url: `${stub.url}/v1/messages` })
        assert.deepEqual(made['custom_headers'], ['x-team'])
        assert.deepEqual(
          [made['provider'], made['model'], made['display_name'], made['base_url']],
          ['ant-compatible', 'stub-1', 'Stub One', stub.url],
        )
        const preview = String(made['api_key_preview'])
        assert.ok(preview.length > 3 && preview.length < secret.length)
        const { probe: _, ...shown } = made
        const listed = await service.ask('GET', path)
        assert.deepEqual(
          listed.body.data.find(({ id }) => id === made.id),
          shown,
        )
        const rows = await service.tenantDatabase.read
          .selectFrom('model_cards')
          .selectAll()
          .execute()
        const everywhere = JSON.stringify([made, listed.body, rows, service.logged])
        assert.ok(!everywhere.includes(secret))
        assert.ok(!everywhere.includes('canary-header'))
        const keys = await service.ask('GET', `${path}/${made.id}/key`)
        assert.equal(keys.status, 404)
      },
    )

    verifies(
      ['model-cards/field/model-id', 'model-cards/delete'],
      'a handle is unique until its card is deleted',
      async () => {
        const made = await make()
        const again = await service.ask('POST', path, card({ model_id: made['model_id'] }))
        assert.equal(again.status, 409)
        const deleted = await service.ask('DELETE', `${path}/${made.id}`)
        assert.deepEqual(deleted.body, { id: made.id, type: 'model_card_deleted' })
        assert.equal((await service.ask('GET', `${path}/${made.id}`)).status, 404)
        await make({ model_id: made['model_id'] })
      },
    )

    verifies(
      [
        'model-cards/native-config/keys',
        'model-cards/native-config/no-override',
        'model-cards/native-config/api',
        'model-cards/field/provider',
        'model-cards/field/base-url',
      ],
      'the fields of a card are limited, and an unknown provider must say its wire',
      async () => {
        for (const key of ['id', 'provider', 'model', 'baseUrl', 'apiKey', 'colour']) {
          await refused({ native_config: { [key]: 'x' } }, new RegExp(key))
        }
        await refused({ provider: 'nobody', native_config: null }, /api/)
        const native_config = { api: 'anthropic-messages' }
        await refused({ provider: 'nobody', native_config, base_url: null }, /base_url/)
        await refused({ base_url: 'ftp://x.example' }, /base_url/)
        assert.equal(
          (await service.ask('POST', path, card({ provider: 'nobody', native_config }))).status,
          200,
        )
      },
    )

    verifies(
      [
        'model-cards/probe/unsupported',
        'model-cards/probe/again',
        'model-cards/probe/skipped-runs',
        'errors/case/probe-unsupported',
      ],
      'a provider that is not probed is no rejection, and its card runs',
      async () => {
        const requests = stub.requests.length
        const made = await make({
          provider: 'nobody',
          native_config: { api: 'anthropic-messages' },
        })
        const skipped = made['probe'] as Record<string, unknown>
        assert.deepEqual([skipped['ok'], skipped['reason']], [null, 'unsupported_provider'])
        assert.match(String(skipped['message']), /the card runs/)
        assert.equal(stub.requests.length, requests)
        stub.replies(says('OK'))
        const tried = await service.ask('POST', `${path}/${made.id}/probe`)
        assert.equal(tried.body['ok'], true)
        assert.match(String(tried.body['url']), /\/v1\/messages$/)
        stub.replies({ status: 401, error: 'authentication_error', message: 'no such key' })
        const refused = await service.ask('POST', `${path}/${made.id}/probe`)
        assert.deepEqual(
          [refused.status, refused.body['ok'], refused.body['status']],
          [200, false, 401],
        )
        stub.replies(says('from nobody'))
        const session = await newSession(service, { model: { id: made['model_id'] } })
        const seen = await turn(service, session, 'hello')
        assert.equal(textOf(only(seen, 'agent.message')), 'from nobody')
      },
    )

    verifies(
      [
        'model-cards/probe/bad-key',
        'model-cards/probe/six-seconds',
        'errors/case/bad-card-key',
        'limits/card-probe',
      ],
      'a key that the provider rejects is refused, and a key that cannot be tried is reported in time',
      async () => {
        stub.replies({ status: 401, error: 'authentication_error', message: 'no such key' })
        await refused({}, /api_key.*no such key/)
        stub.replies('hang')
        const before = Date.now()
        const hung = await service.ask('POST', path, card())
        const tookMs = Date.now() - before
        assert.equal((hung.body['probe'] as LooseBody)['ok'], false)
        assert.ok(tookMs >= 5_500 && tookMs < 7_500, `${tookMs}`)
      },
    )

    verifies(
      ['model-cards/update', 'model-cards/update/next-resolve'],
      'a rotated key reaches a running session with its next turn',
      async () => {
        const made = await make()
        const session = await newSession(service, { model: { id: made['model_id'] } })
        await turn(service, session, 'one')
        const rotated = await service.ask('POST', `${path}/${made.id}`, {
          api_key: 'sk-new-key-9876543210',
        })
        assert.notEqual(rotated.body['api_key_preview'], made['api_key_preview'])
        await turn(service, session, 'two')
        const { headers } = stub.requests.at(-1) ?? { headers: {} }
        assert.match(JSON.stringify(headers), /sk-new-key-9876543210/)
        const handle = await service.ask('POST', `${path}/${made.id}`, { model_id: 'other' })
        assert.equal(handle.status, 400)
      },
    )

    verifies(
      [
        'agents/model/effort',
        'agents/model/id',
        'agents/model/pinned',
        'agents/model/geo-not-routed',
        'agents/model/inference-geo',
        'agents/model/speed-standard',
        'agents/model/speed',
      ],
      'a model object names a card and its controls, which belong to the version',
      async () => {
        const made = await make()
        const model = {
          id: String(made['model_id']),
          effort: 'high',
          inference_geo: 'us',
          speed: 'standard',
        } as const
        const agent = await service.client.beta.agents.create({ name: 'n', model })
        assert.deepEqual(agent.model, { ...model, effort: { type: 'high' } })
        for (const effort of [null, undefined]) {
          const plain = { name: 'n', model: { id: model.id, effort } }
          const answer = await service.client.beta.agents.create(plain as never)
          assert.deepEqual(answer.model, { id: model.id, speed: 'standard' })
          const { body } = await service.ask('POST', '/v1/agents', { ...plain, tools: [] })
          assert.deepEqual(body['model'], { id: model.id })
        }
        const bad = { name: 'n', tools: [], model: { ...model, inference_geo: 'mars' } }
        assert.equal((await service.ask('POST', '/v1/agents', bad)).status, 400)
        const effort = { name: 'n', tools: [], model: { ...model, effort: 'enormous' } }
        assert.equal((await service.ask('POST', '/v1/agents', effort)).status, 400)
        const session = await newSession(service, { model })
        await service.client.beta.agents.update(
          (await service.client.beta.sessions.retrieve(session)).agent.id,
          { version: 1, model: 'offline' },
        )
        const seen = await turn(service, session, 'hello')
        assert.equal(textOf(only(seen, 'agent.message')), 'OK')
        const body = stub.requests.at(-1)?.body
        assert.equal(body?.['model'], 'stub-1')
        assert.ok(!JSON.stringify(body).includes('"us"'))
      },
    )

    verifies(
      ['agents/model/speed-unsupported', 'errors/case/speed-unsupported'],
      'the fast speed is refused by name before there is a session, if the provider has no fast mode',
      async () => {
        await assert.rejects(
          newSession(service, { model: { id: 'offline', speed: 'fast' } }),
          (error: Error & { status?: number }) =>
            error.status === 400 && /agent\.model\.speed: .*not supported/.test(error.message),
        )
        await newSession(service, { model: { id: 'offline', speed: 'standard' } })
      },
    )

    verifies(
      [
        'models/list',
        'models/get',
        'models/projection',
        'models/no-credentials',
        'lists/cursor-names',
      ],
      'cards are models to the official client, and claim only what is certain',
      async () => {
        const own = await service.otherWorkspace('models')
        const client = service.client.withOptions({ apiKey: own.key })
        const headers = { 'x-api-key': own.key }
        const handles = ['one', 'two', 'three']
        for (const model_id of handles) {
          stub.replies(says('OK'))
          const native_config = { contextWindow: 1000, maxTokens: 100, input: ['text', 'image'] }
          await service.ask(
            'POST',
            path,
            card({ model_id, display_name: `Model ${model_id}`, native_config }),
            headers,
          )
        }
        const seen = []
        for await (const { id } of client.models.list({ limit: 1 })) seen.push(id)
        assert.deepEqual(seen, [...handles.toReversed(), 'offline'])
        const offline = await client.models.retrieve('offline')
        assert.deepEqual([offline.type, offline.max_input_tokens], ['model', 200_000])
        const last = await client.models.list({ limit: 2, before_id: 'offline' })
        assert.deepEqual(
          last.data.map(({ id }) => id),
          ['two', 'one'],
        )
        const pages: string[] = []
        for (let at = '?limit=3'; at !== '';) {
          const { body } = await service.ask('GET', `/v1/models${at}`, undefined, headers)
          pages.push((body['data'] as { id: string }[]).map(({ id }) => id).join(' '))
          const next = body['next_page']
          at = typeof next === 'string' ? `?limit=3&page=${next}` : ''
        }
        assert.deepEqual(pages, ['three two one', 'offline'])
        const model = await client.models.retrieve('two')
        assert.equal(model.display_name, 'Model two')
        const shown = (await service.ask('GET', '/v1/models/two', undefined, headers)).body
        assert.deepEqual([shown['max_input_tokens'], shown['max_tokens']], [1000, 100])
        const capabilities = shown['capabilities'] as { [name: string]: { supported: boolean } }
        assert.deepEqual(
          [
            capabilities['image_input'],
            capabilities['pdf_input'],
            capabilities['thinking']?.supported,
          ],
          [{ supported: true }, { supported: false }, false],
        )
        assert.equal(shown['list_price'], null)
        assert.ok(!JSON.stringify(shown).includes(secret))
        const before = await client.models.list({ limit: 1, before_id: 'one' })
        assert.deepEqual(
          before.data.map(({ id }) => id),
          ['two'],
        )
        assert.equal((await service.ask('GET', '/v1/models/none', undefined, headers)).status, 404)
      },
    )

    verifies(
      ['models/catalog', 'models/catalog/unknown', 'versions/catalog-key-deprecated'],
      'the built-in catalogue of a known provider is listed, and no other',
      async () => {
        const catalog = (provider: string) =>
          service.ask('POST', '/v1/ext/models/list', { provider })
        const known = await catalog('ant')
        assert.equal(known.body['provider'], 'anthropic')
        assert.ok(known.body.data.length > 3)
        assert.equal((await catalog('nobody')).status, 404)
      },
    )

    verifies(
      ['secrets/model-keys-outside', 'running/error/no-secret'],
      'no key is in an event, an error or a log line, not even when the provider repeats it',
      async () => {
        const made = await make()
        const session = await newSession(service, { model: { id: made['model_id'] } })
        stub.replies({ status: 400, error: 'invalid_request_error', message: `bad key ${secret}` })
        await turn(service, session, 'hello')
        const log = await logOf(service, session)
        only(log, 'session.error')
        assert.ok(!JSON.stringify(log).includes(secret))
        assert.ok(!service.logged.join('').includes(secret))
      },
    )
  })
}
