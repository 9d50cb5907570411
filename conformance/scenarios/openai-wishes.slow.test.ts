/** Wishes and forms of answers on `/openai/v1`, by the unmodified `openai` client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { zodAgentTextFormat } from 'openai/helpers/beta/agents/zod'
import { z } from 'zod'
import { newestOpenAI } from '../openai.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '@steward/model/stubs/stub-openai-responses.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const hosted = { type: 'openai_hosted' } as const

/** Every parameter of an agent that the client's own tests send, and the other wishes of its types. */
const everyWish = {
  compaction: { async: true },
  instructions: 'instructions',
  multi_agent: { enabled: true, max_concurrent_subagents: 1 },
  reasoning: { effort: 'none', summary: 'concise' },
  service_tier: 'flex',
  text: { format: { type: 'text' }, verbosity: 'low' },
  tools: [
    {
      ...{ type: 'function', name: 'name', description: 'description' },
      ...{ parameters: { foo: 'bar' }, defer_loading: true, async: true },
    },
    { type: 'web_search', context_size: 'high' },
  ],
} satisfies Partial<OpenAI.Beta.AgentCreateParams>

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`wishes of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
    })
    after(() => service.close())

    verifies(
      ['openai/wishes', 'openai/agents/create', 'openai/agents/update'],
      'an agent with every wish is made, and shows what is applied',
      async () => {
        const whole = { model: 'offline', name: 'name', metadata: { foo: 'string' }, ...everyWish }
        const made = await agents.create(whole)
        assert.partialDeepStrictEqual(made, {
          multi_agent: { enabled: true, max_concurrent_subagents: 1 },
          reasoning: { effort: 'low', summary: null },
          service_tier: 'auto',
          text: { format: { type: 'text' }, verbosity: 'low' },
          tools: [{ type: 'web_search', context_size: 'medium' }, { defer_loading: false }],
        })
        const { name: _, ...again } = whole
        assert.deepEqual((await agents.update(made.id, again)).text, made.text)
        const kept = await agents.update(made.id, { instructions: 'others' })
        assert.deepEqual([kept.text, kept.multi_agent], [made.text, made.multi_agent])
        const cleared = await agents.update(made.id, { text: null, multi_agent: null })
        assert.deepEqual(cleared.text, { format: { type: 'text' }, verbosity: 'medium' })
        assert.deepEqual(cleared.multi_agent, { enabled: false, max_concurrent_subagents: null })
      },
    )

    verifies(
      ['openai/wishes', 'openai/sessions/inline-agent', 'openai/sessions/create'],
      'a session with every wish is made, also beside a stored agent',
      async () => {
        const stored = await agents.create({ model: 'offline' })
        const session = await agents.sessions.create({
          environment: { ...hosted, container_size: 'small' },
          agent: { model: 'offline', ...everyWish },
          ...{ agent_id: stored.id, input: 'say: x', metadata: { foo: 'string' } },
          ...{ stream: false, vault_ids: [], prompt_cache_options: { ttl: '30m' } },
        })
        assert.partialDeepStrictEqual(session.agent, {
          multi_agent: { enabled: true, max_concurrent_subagents: 1 },
          text: { format: { type: 'text' }, verbosity: 'low' },
        })
        const { text, multi_agent } = await agents.retrieve(stored.id)
        assert.equal(text.verbosity, 'medium')
        assert.equal(multi_agent.enabled, false)
      },
    )

    verifies(
      'openai/wishes',
      'no more subagents work at one time than the agent may have',
      async () => {
        const slow = { name: 'slow', system: 'You wait.', message: 'run: sleep 1' }
        const turn = await agents.sessions.create({
          agent: {
            model: 'offline',
            multi_agent: { enabled: true, max_concurrent_subagents: 1 },
          },
          ...{ environment: hosted, stream: true, toolHandlers: {} },
          input: `call create_agent ${JSON.stringify(slow)}\ncall create_agent ${JSON.stringify({ ...slow, name: 'another' })}`,
        })
        const { session_id } = await turn.finalResult()
        const items = await Array.fromAsync(
          agents.sessions.items.list(session_id, { order: 'asc' }),
        )
        const calls = items.filter(({ type }) => type === 'create_subagent_call')
        assert.deepEqual(
          calls.map((item) => 'status' in item && item.status),
          ['completed', 'failed'],
        )
      },
    )

    verifies(
      ['openai/agents/format', 'openai/wishes'],
      'a schema is sent to the provider, and the client reads the answer by it',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const answer = JSON.stringify({ city: 'Bern', people: 134_000 })
        stub.replies({ blocks: [{ type: 'text', pieces: [answer] }], stop: 'end_turn' })
        const format = zodAgentTextFormat(z.object({ city: z.string(), people: z.number() }))
        const turn = await agents.sessions.create({
          agent: { model, text: { format, verbosity: 'high' } },
          ...{ environment: { type: 'none' }, input: 'a city', stream: true, toolHandlers: {} },
        })
        const result = await turn.finalResult()
        assert.deepEqual(result.output_parsed, { city: 'Bern', people: 134_000 })
        const asked = stub.requests.at(-1)?.body as { output_config: object; system: unknown }
        const { schema } = format
        assert.partialDeepStrictEqual(asked.output_config, {
          format: { type: 'json_schema', schema },
        })
        assert.match(JSON.stringify(asked.system), /Answer at length.*matches this JSON Schema/)
        const { agent } = await agents.sessions.retrieve(result.session_id)
        assert.deepEqual(agent.text, { format: { type: 'json_schema', schema }, verbosity: 'high' })
        const there = await service.ask('GET', `/v1/sessions/${result.session_id}`)
        assert.partialDeepStrictEqual(there.body, { agent: { answers: { verbosity: 'high' } } })
      },
    )

    /** Every object of a strict schema names all its properties and allows no others. */
    function checkStrict(schema: unknown): void {
      const { type, properties, required, additionalProperties, ...others } = z
        .looseObject({
          type: z.unknown(),
          properties: z.record(z.string(), z.unknown()).optional(),
          required: z.array(z.string()).optional(),
        })
        .parse(schema)
      if (type === 'object') {
        assert.equal(additionalProperties, false)
        assert.deepEqual(required?.toSorted(), Object.keys(properties ?? {}).toSorted())
      }
      for (const each of Object.values(properties ?? {})) checkStrict(each)
      if (others['items'] !== undefined) checkStrict(others['items'])
    }

    for (const [api, dialect, partOf] of [
      [
        'openai-completions',
        openaiChatDialect,
        ({ response_format }: Record<string, unknown>) => response_format,
      ],
      ['openai-responses', openaiResponsesDialect, ({ text }: Record<string, unknown>) => text],
    ] as const)
      verifies(
        'openai/agents/format',
        `a schema of the client reaches ${api} strict and unchanged`,
        async () => {
          await using stub = await startStub(dialect)
          const model = await pricedModel(service, stub, { input: 1, output: 1 }, undefined, api)
          const answer = { city: 'Bern', parts: [{ name: 'Felsenau', people: null }] }
          stub.replies({
            blocks: [{ type: 'text', pieces: [JSON.stringify(answer)] }],
            stop: 'end_turn',
          })
          const part = z.object({ name: z.string(), people: z.number().nullable() })
          const format = zodAgentTextFormat(z.object({ city: z.string(), parts: z.array(part) }))
          const turn = await agents.sessions.create({
            agent: { model, text: { format } },
            ...{ environment: { type: 'none' }, input: 'a city', stream: true, toolHandlers: {} },
          })
          const { output_parsed } = await turn.finalResult()
          assert.deepEqual(output_parsed, answer)
          const { schema } = format
          checkStrict(schema)
          const asked = partOf(stub.requests.at(-1)?.body as Record<string, unknown>)
          const strict = { name: 'answer', strict: true, schema }
          assert.deepEqual(
            asked,
            api === 'openai-completions'
              ? { type: 'json_schema', json_schema: strict }
              : { format: { type: 'json_schema', ...strict } },
          )
        },
      )

    verifies(
      ['openai/refusals', 'openai/wishes', 'openai/environments/create', 'openai/templates/create'],
      'every parameter of an environment is taken, but for three that promise what sandboxes lack',
      async () => {
        const content = new File(['1'], 'x.csv')
        const client = newestOpenAI(service)
        const file = await client.files.create({ file: content, purpose: 'user_data' })
        const fields = {
          container_size: 'small' as const,
          env: { foo: 'string' },
          files: [{ type: 'file_id' as const, file_id: file.id, path: '/workspace/x' }],
          network: {
            access: 'restricted' as const,
            allowed_domains: ['example.com'],
            blocked_domains: ['example.org'],
          },
          packages: { npm: ['string'], python: ['string'], system: ['string'] },
          setup_commands: [{ command: 'command', cwd: '/workspace' }],
          skills: [],
        }
        const without = { desktop: { enabled: false }, plugins: [], capability_directories: [] }
        const absent = { desktop: null, plugins: null, capability_directories: null }
        for (const lacking of [without, absent]) {
          const environment = { ...hosted, ...fields, ...lacking }
          await agents.environments.create({ environment, vault_ids: [] })
          await agents.environments.templates.create({ name: null, ...fields, ...lacking })
          await agents.sessions.create({ agent: { model: 'offline' }, environment })
        }
        const plugin = { name: 'x', description: 'description', type: 'inline' as const }
        const source = { data: 'x', media_type: 'application/zip', type: 'base64' } as const
        const promises: [object, string, RegExp][] = [
          [{ desktop: { enabled: true } }, 'desktop.enabled', /sandboxes have no desktop/],
          [{ plugins: [{ ...plugin, source }] }, 'plugins', /upload a skill/],
          [{ capability_directories: ['string'] }, 'capability_directories', /upload skills/],
        ]
        for (const [promised, param, message] of promises) {
          const environment = { ...hosted, ...fields, ...promised }
          const at = `environment.${param}`
          await assert.rejects(agents.environments.create({ environment }), { param: at, message })
          await assert.rejects(
            agents.sessions.create({ agent: { model: 'offline' }, environment }),
            { param: at, message },
          )
          await assert.rejects(agents.environments.templates.create({ ...fields, ...promised }), {
            ...{ param, message },
          })
        }
      },
    )
  })
}
