import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import type { Message } from '../model.ts'
import { resolveModel } from '../catalog.ts'
import type { ModelSpec } from '../spec.ts'
import { bashSpec, stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import {
  type StubAnswer,
  type StubDialect,
  type StubModel,
  startStub,
} from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'

const dialects: Record<string, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}
const hello: StubAnswer = { blocks: [{ type: 'text', pieces: ['Hi'] }], stop: 'end_turn' }

/** The request that a server of this wire gets. */
async function sent(
  api: string,
  more: Partial<ModelSpec> & { path?: string } = {},
  messages: Message[] = [userText('Hello')],
) {
  const dialect = dialects[api]
  assert.ok(dialect !== undefined)
  await using stub: StubModel = await startStub(dialect)
  stub.replies(hello)
  const { path = '', ...spec } = more
  const model = openModel({
    provider: 'acme',
    api,
    model: 'm-1',
    api_key: stubKey,
    ...spec,
    base_url: `${stub.url}${path}`,
  })
  const { last } = await readModelAnswer(model, messages, { tools: [bashSpec], cacheKey: 'sesn_1' })
  assert.equal(last?.type, 'end', JSON.stringify(last))
  const request = stub.requests[0]
  assert.ok(request !== undefined)
  return request
}

void describe('a request to a provider', () => {
  void it('goes to the endpoint whether or not its version was written down', async () => {
    const cases: [string, string, string][] = [
      ['anthropic-messages', '/v1', '/v1/messages?beta=true'],
      ['anthropic-messages', '/proxy/', '/proxy/v1/messages?beta=true'],
      ['openai-completions', '', '/v1/chat/completions'],
      ['openai-completions', '/v1/', '/v1/chat/completions'],
      ['openai-completions', '/api/paas/v4', '/api/paas/v4/chat/completions'],
      ['openai-responses', '/openai', '/openai/v1/responses'],
      ['openai-responses', '/openai/v1', '/openai/v1/responses'],
      ['google-generative-ai', '', '/v1beta/models/m-1:streamGenerateContent?alt=sse'],
      ['google-generative-ai', '/v1beta', '/v1beta/models/m-1:streamGenerateContent?alt=sse'],
    ]
    for (const [api, path, expected] of cases) {
      assert.equal((await sent(api, { path })).path, expected)
    }
  })

  void it('lets no description change who is asked, for which model, or with which key', async () => {
    for (const api of Object.keys(dialects)) {
      const plain = await sent(api)
      const native_config = {
        name: 'x',
        id: 'other',
        provider: 'other',
        baseUrl: 'http://127.0.0.1:1',
        base_url: 'http://127.0.0.1:1',
        apiKey: 'other',
        api: 'google-vertex',
        headers: {
          authorization: 'Bearer other',
          'X-Api-Key': 'other',
          'x-goog-api-key': 'other',
          host: 'other.example',
          'x-harmless': 'yes',
        },
        samplingParams: {
          model: 'other',
          messages: [],
          input: [],
          tools: [],
          stream: false,
          top_k: 4,
        },
        compat: { allowedFallbackModels: [{ provider: 'acme', model: 'other' }] },
      }
      const described = await sent(api, { native_config })
      const { top_k, ...body } = described.body
      if (api.startsWith('openai-')) assert.equal(top_k, 4)
      assert.deepEqual(body, plain.body)
      assert.equal(described.path, plain.path)
      const { host: _a, 'x-harmless': harmless, ...headers } = described.headers
      const { host: _b, ...plainHeaders } = plain.headers
      assert.equal(harmless, 'yes')
      delete headers['content-length']
      delete plainHeaders['content-length']
      assert.deepEqual(headers, plainHeaders)
      assert.match(JSON.stringify(headers), new RegExp(stubKey))
    }
  })

  void it('carries the headers of the card', async () => {
    for (const api of Object.keys(dialects)) {
      const { headers } = await sent(api, { headers: { 'x-team': 'blue' } })
      assert.equal(headers['x-team'], 'blue')
      assert.equal(headers['user-agent'], 'steward/0.1')
    }
  })

  void it('ends no message of the Messages wire in thinking, which it would refuse', async () => {
    const origin = { provider: 'acme', api: 'anthropic-messages', model: 'm-1' }
    const thought = { type: 'thinking', text: 'hm', state: 'c2ln' } as const
    const { body } = await sent('anthropic-messages', {}, [
      userText('Hello'),
      { role: 'assistant', origin, content: [thought, { type: 'text', text: 'Hi' }, thought] },
      userText('And?'),
      { role: 'assistant', origin, content: [thought] },
      userText('So?'),
    ])
    const messages = body.messages as { role: string; content: { type: string }[] }[]
    assert.deepEqual(
      messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]),
      [
        ['user', 'text'],
        ['assistant', 'thinking', 'text'],
        ['user', 'text', 'text'],
      ],
    )
  })

  void it('joins the betas that a card asks for with those that are needed', async () => {
    const { headers, body } = await sent('anthropic-messages', {
      provider: 'anthropic',
      speed: 'fast',
      headers: { 'Anthropic-Beta': 'one, two' },
    })
    assert.equal(headers['anthropic-beta'], 'one,two,fast-mode-2026-02-01')
    assert.equal(body.speed, 'fast')
  })

  void it('asks for priority where that is how to be fast, and for nothing at standard speed', async () => {
    for (const api of ['openai-completions', 'openai-responses']) {
      const fast = await sent(api, { provider: 'openai', speed: 'fast' })
      assert.equal(fast.body.service_tier, 'priority')
      const standard = await sent(api, { provider: 'openai', speed: 'standard' })
      assert.deepEqual(standard.body, (await sent(api, { provider: 'openai' })).body)
    }
  })

  void it('asks for the nearest effort the model has, and for no thinking without an effort', async () => {
    const native_config = { reasoning: true, thinkingLevelMap: { xhigh: null, max: null } }
    const spec = { native_config, effort: 'max' } as const
    const responses = await sent('openai-responses', spec)
    assert.deepEqual(responses.body.reasoning, { effort: 'high', summary: 'auto' })
    const anthropic = await sent('anthropic-messages', {
      effort: 'low',
      native_config: { reasoning: true, compat: { forceAdaptiveThinking: true } },
    })
    assert.deepEqual(anthropic.body.output_config, { effort: 'low' })
    const unspoken = await sent('anthropic-messages', { native_config: { reasoning: true } })
    assert.equal(unspoken.body.thinking, undefined)
    const google = await sent('google-generative-ai', { native_config: { reasoning: true } })
    assert.doesNotMatch(JSON.stringify(google.body), /thinking/i)
    const chat = await sent('openai-completions', { ...spec, effort: 'medium' })
    assert.equal(chat.body.reasoning_effort, 'medium')
  })

  void it('keeps the prompt cache: breakpoints where the wire has them, a key where it has one', async () => {
    const { body } = await sent('anthropic-messages')
    assert.equal(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1, 3)
    const responses = await sent('openai-responses')
    assert.equal(responses.body.prompt_cache_key, 'sesn_1')
  })

  void it('has a breakpoint where the request before it ended, and another at its own end', async () => {
    const origin = { provider: 'acme', api: 'anthropic-messages', model: 'm-1' }
    const call = { type: 'tool_call' as const, id: 'toolu_1', name: 'bash', input: {} }
    const result: Message = {
      role: 'tool_result',
      ...{ tool_call_id: 'toolu_1', tool_name: 'bash', is_error: false },
      content: [{ type: 'text', text: 'out' }],
    }
    const answer: Message = { role: 'assistant', content: [call], origin }
    const { body } = await sent('anthropic-messages', {}, [userText('first'), answer, result])
    const messages = body.messages as { content: { cache_control?: unknown }[] }[]
    assert.deepEqual(
      messages.map(({ content }) => content.filter((block) => block.cache_control).length),
      [1, 0, 1],
    )
    assert.equal(JSON.stringify(body).split('"cache_control"').length - 1, 4)
  })

  void it('keeps both breakpoints where messages of one role are joined', async () => {
    const origin = { provider: 'acme', api: 'anthropic-messages', model: 'm-1' }
    const { body } = await sent('anthropic-messages', {}, [
      userText('given up'),
      userText('first'),
      { role: 'assistant', content: [{ type: 'text', text: 'Yes' }], origin },
      userText('promoted'),
      userText('newest'),
    ])
    const messages = body.messages as { content: { text: string; cache_control?: unknown }[] }[]
    assert.deepEqual(
      messages.map(({ content }) => content.map((block) => [block.text, 'cache_control' in block])),
      [
        [
          ['given up', false],
          ['first', true],
        ],
        [['Yes', false]],
        [
          ['promoted', false],
          ['newest', true],
        ],
      ],
    )
  })

  void it('holds nothing that a catalog adds on its own to another model or another history', async () => {
    for (const model of ['claude-fable-5', 'claude-opus-5']) {
      const target = await resolveModel({ provider: 'anthropic', model })
      assert.ok(!('refused' in target))
      const { body } = await sent('anthropic-messages', target)
      assert.doesNotMatch(JSON.stringify(body), /fallback|placeholder|output_config/)
    }
  })

  void it('omits documents, with a note, if the provider cannot read them', async () => {
    const document = {
      type: 'document',
      media_type: 'application/pdf',
      data: 'RE9D',
      title: 'a.pdf',
    } as const
    const message: Message = { role: 'user', content: [document] }
    const { body } = await sent('openai-completions', {}, [message])
    assert.match(JSON.stringify(body), /a\.pdf is left out/)
    const zip: Message = { role: 'user', content: [{ ...document, media_type: 'application/zip' }] }
    const anthropic = await sent('anthropic-messages', {}, [zip])
    assert.match(JSON.stringify(anthropic.body), /cannot read application\/zip/)
  })

  void it('sends a note in the middle as the system where a model takes it, marked otherwise', async () => {
    const messages: Message[] = [
      userText('Hello'),
      { role: 'system', content: [{ type: 'text', text: 'Note.' }] },
    ]
    const compat = { supportsMidConvoSystemMessages: true }
    const native = await sent('anthropic-messages', { native_config: { compat } }, messages)
    assert.match(JSON.stringify(native.body.messages), /"role":"system"/)
    const marked = await sent('anthropic-messages', {}, messages)
    assert.match(JSON.stringify(marked.body.messages), /<system>\\nNote\.\\n<\/system>/)
  })
})

void describe('specs that cannot be used', () => {
  void it('fail every call with the reason', async () => {
    const spec = { provider: 'acme', model: 'm', base_url: 'http://127.0.0.1:1', api_key: stubKey }
    const cases: [Partial<ModelSpec>, RegExp][] = [
      [{ api: 'google-vertex' }, /use the provider vertex/],
      [{ api: 'smoke-signals' }, /^native_config\.api: 'smoke-signals' is not known/],
      [
        { api: 'openai-responses', speed: 'fast' },
        /speed 'fast' is not supported by provider 'acme'/,
      ],
      [{ api: 'openai-responses', base_url: 'file:///etc/passwd' }, /http or https/],
      [{ api: 'anthropic-messages', api_key: 'sk-ant-oat01-abc' }, /subscription/],
    ]
    for (const [more, reason] of cases) {
      const { events, last } = await readModelAnswer(openModel({ api: '', ...spec, ...more }), [
        userText('Hi'),
      ])
      assert.equal(events.length, 1)
      assert.ok(last?.type === 'failed' && !last.failure.retryable)
      assert.match(last.failure.message, reason)
    }
  })
})

void describe('an error within an answer', () => {
  void it('is examined at once, whatever its length', async () => {
    await using stub = await startStub(anthropicDialect)
    const message = `input token count of ${'input token count'.repeat(15_000)}`
    const error = JSON.stringify({ type: 'error', error: { type: 'api_error', message } })
    stub.replies({ body: `event: error\ndata: ${error}\n\n`, contentType: 'text/event-stream' })
    const spec = { provider: 'acme', api: 'anthropic-messages', model: 'm', api_key: stubKey }
    const began = processorMs()
    const { last } = await readModelAnswer(openModel({ ...spec, base_url: stub.url }), [
      userText('Hi'),
    ])
    assert.equal(last?.type === 'failed' && last.failure.kind, 'request_failed')
    assert.ok(processorMs() - began < 1_500)
  })
})
