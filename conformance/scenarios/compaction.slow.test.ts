import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { openaiResponsesDialect } from '@steward/model/stubs/stub-openai-responses.ts'
import type { StubAnswer, StubReply, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, idleOf, logOf, newSession, only, say, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

type CompactionRequest = StubModel['requests'][number]
const contextWindow = 10_000
const says = (text: string, input = 100): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
  usage: { input, output: 10 },
})
const calls: StubAnswer = {
  blocks: [{ type: 'tool_call', id: 'toolu_1', name: 'bash', pieces: ['{"command":"ls"}'] }],
  stop: 'tool_use',
  usage: { input: 100, output: 10 },
}
const tooLong: StubReply = {
  status: 400,
  error: 'invalid_request_error',
  message: 'prompt is too long: 20000 tokens > 10000 maximum',
}
const toolset = { type: 'agent_toolset_20260401' }
/** A text that is long enough for a summary. */
const story = (name: string) => `${name} ${'and so on '.repeat(1_200)}`

/** The messages of a request without the breakpoints of the prompt cache, which do not change the cache's key. */
const sent = ({ body }: CompactionRequest): string =>
  JSON.stringify(body['messages']).replaceAll(/,"cache_control":\{[^}]*\}/g, '')
const rest = ({ body: { messages: _, max_tokens: __, ...others } }: CompactionRequest): string =>
  JSON.stringify(others)
/** The request with this number, from 0. */
function at(requests: readonly CompactionRequest[], index: number): CompactionRequest {
  const found = requests[index]
  assert.ok(found, `there are ${requests.length} requests`)
  return found
}
const begins = (longer: CompactionRequest, shorter: CompactionRequest): boolean =>
  sent(longer).startsWith(sent(shorter).slice(0, -1))

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`compaction on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let responses: StubModel
    let env: Record<string, string>
    before(async () => {
      env = {
        DATA_DIR: await mkdtemp(join(tmpdir(), 'steward-compaction-')),
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
      service = await boot(database, { env })
      stub = await startStub(anthropicDialect)
      responses = await startStub(openaiResponsesDialect)
    })
    after(async () => {
      await service.close()
      await rm(env['DATA_DIR'] ?? '', { recursive: true, force: true })
      await stub[Symbol.asyncDispose]()
      await responses[Symbol.asyncDispose]()
    })

    /** Creates a session on a model of 10,000 tokens. Forgets the request that tested the model card. */
    async function session(metadata: object, more: object = {}, to = stub): Promise<string> {
      to.replies(says('OK'))
      const model_id = fresh('handle').replace(' ', '-')
      const made = await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id, model: 'stub-1', base_url: to.url, api_key: 'none-needed' },
        provider: to === stub ? 'ant-compatible' : 'oai-compatible',
        native_config: {
          ...{ contextWindow, maxTokens: 1_000, input: ['text', 'image'] },
          ...(to === stub ? {} : { api: 'openai-responses' }),
        },
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      const agent = { model: { id: model_id }, harness: 'native', tools: [toolset], metadata }
      const id = await newSession(service, { ...agent, ...more })
      to.requests.length = 0
      return id
    }

    /** Replaces a text in the stored events before the boundary of the compaction. */
    const rewriteBeforeBoundary = (id: string, was: string, is: string) =>
      service.tenantDatabase.write((tx) =>
        tx
          .updateTable('events')
          .set((eb) => ({ data: eb.fn<string>('replace', ['data', eb.val(was), eb.val(is)]) }))
          .where('session_id', '=', id)
          .where('seq', '<', (eb) =>
            eb
              .selectFrom('events')
              .select('seq')
              .where('session_id', '=', id)
              .where('type', '=', 'agent.thread_context_compacted'),
          )
          .execute(),
      )

    /** Runs two turns. The first fills the context; the second is compacted before its model request. */
    async function compacted(id: string, ...replies: StubReply[]): Promise<SeenEvent[]> {
      stub.replies(says(story('Once'), 9_000))
      await turn(service, id, 'tell me a story')
      stub.requests.length = 0
      stub.replies(...replies)
      return turn(service, id, 'how does it end?')
    }

    verifies(
      [
        'compaction/key/strategy',
        'compaction/basic/prompt',
        'compaction/basic/no-tools',
        'compaction/basic/image-placeholders',
        'compaction/boundary/replaces',
        'compaction/boundary/event',
        'compaction/boundary/newest',
        'events/type/thread-context-compacted',
        'events/ext/compaction-summarize',
        'compaction/usage',
      ],
      'a full context is summed up beside the conversation, and the turn goes on with the summary',
      async () => {
        const id = await session({})
        const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
        stub.replies(says('seen'))
        await turn(service, id, {
          type: 'user.message',
          content: [{ type: 'image', source: image }],
        })
        const seen = await compacted(id, says('IN SHORT', 700), says('well'))
        const [asked, main] = [at(stub.requests, 0), at(stub.requests, 1)]
        assert.equal(stub.requests.length, 2)
        assert.equal(asked.body['tools'], undefined)
        assert.match(JSON.stringify(asked.body['system']), /summary/)
        assert.doesNotMatch(JSON.stringify(asked.body), /iVBORw0KGgo=/)
        assert.match(sent(asked), /\[image image\/png\][^]*Once/)
        assert.match(sent(main), /IN SHORT[^]*how does it end\?/)
        assert.doesNotMatch(sent(main), /Once|iVBORw0KGgo=/)
        const boundary = only(seen, 'agent.thread_context_compacted')
        const { strategy, summary, messages, tokens } = boundary
        assert.deepEqual([strategy, summary], ['isolated-basic', 'IN SHORT'])
        assert.deepEqual(messages, { replaced: 4, kept: 1 })
        assert.match(JSON.stringify(tokens), /^\{"before":9\d{3},"after":1\d{3}\}$/)
        const written = types(await logOf(service, id)).filter((type) => type.includes('compact'))
        const span = 'span.compaction_summarize'
        assert.deepEqual(written, [`${span}_start`, `${span}_end`, boundary.type])
        const listed = await service.client.beta.sessions.events.list(id, {
          types: ['agent.thread_context_compacted'],
        })
        assert.equal(listed.data.length, 1)
        const said = all(await say(service, id), 'agent.message')
        assert.doesNotMatch(JSON.stringify(said), /IN SHORT/)
        const ends = all(await logOf(service, id), 'span.compaction_summarize_end')
        assert.deepEqual(
          ends.map(({ model_usage }) => (model_usage as { input_tokens: number }).input_tokens),
          [700],
        )
        const { usage } = await service.client.beta.sessions.retrieve(id)
        assert.equal(usage.input_tokens, 100 + 9_000 + 700 + 100)
      },
    )

    verifies(
      'compaction/basic/session-id',
      'requests beside the conversation have a session id of their own',
      async () => {
        const id = await session({}, {}, responses)
        responses.replies(says(story('Once'), 9_000))
        await turn(service, id, 'tell me a story')
        responses.replies(says('IN SHORT'), says('well'))
        await turn(service, id, 'how does it end?')
        const [first, asked, main] = responses.requests.map(({ body }) => body['prompt_cache_key'])
        assert.equal(responses.requests.length, 3)
        assert.ok(first && asked)
        assert.equal(main, first)
        assert.notEqual(asked, first)
      },
    )

    verifies(
      'compaction/structured',
      'a structured summary is asked for under five headings',
      async () => {
        const id = await session({ compaction_strategy: 'isolated-structured' })
        const seen = await compacted(id, says('## Goal'), says('well'))
        const asked = JSON.stringify(at(stub.requests, 0).body)
        for (const part of ['Goal', 'Instructions', 'Discoveries', 'Accomplished', 'Files'])
          assert.match(asked, new RegExp(`## ${part}`))
        assert.doesNotMatch(asked, /"tools"/)
        assert.equal(
          only(seen, 'agent.thread_context_compacted')['strategy'],
          'isolated-structured',
        )
      },
    )

    verifies(
      ['compaction/summarize/replay', 'compaction/summarize/tool-choice'],
      'summarize repeats the main request and adds one instruction, which nobody else sees',
      async () => {
        const id = await session({ compaction_strategy: 'summarize' }, { system: 'be kind' })
        stub.replies(says(story('Once'), 9_000))
        await turn(service, id, 'tell me a story')
        const first = at(stub.requests, 0)
        stub.replies(says('IN SHORT'), says('well'))
        await turn(service, id, 'how does it end?')
        const [, asked, main] = stub.requests
        assert.ok(asked && main)
        assert.ok(begins(asked, first))
        assert.equal(rest(asked), rest(main))
        assert.equal(rest(asked), rest(first))
        assert.equal(asked.body['tool_choice'], undefined)
        assert.match(sent(asked), /how does it end\?[^]*Call no tool/)
        assert.doesNotMatch(sent(main), /Call no tool/)
        assert.doesNotMatch(JSON.stringify(await logOf(service, id)), /Call no tool/)
      },
    )

    verifies(
      ['compaction/summarize/tool-call', 'compaction/boundary/fallback'],
      'a summary that calls a tool is rejected, runs nothing, and is asked for in another way',
      async () => {
        const id = await session({ compaction_strategy: 'summarize' })
        const seen = await compacted(id, calls, says('IN SHORT'), says('well'))
        assert.equal(all(seen, 'agent.tool_use').length, 0)
        assert.equal(only(seen, 'agent.thread_context_compacted')['strategy'], 'isolated-basic')
        const [rejected] = all(await logOf(service, id), 'span.compaction_summarize_end')
        assert.equal(rejected?.['is_error'], true)
        assert.match(String(rejected?.['message']), /bash/)
      },
    )

    verifies(
      'compaction/boundary/fallback',
      'when no summary comes, a shortened transcript replaces it',
      async () => {
        const id = await session({})
        const bad = { status: 400, error: 'invalid_request_error', message: 'no' }
        const seen = await compacted(id, bad, says('well'))
        assert.equal(only(seen, 'agent.thread_context_compacted')['strategy'], null)
        assert.match(sent(at(stub.requests, 1)), /tell me a story[^]*how does it end\?/)
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
      },
    )

    verifies(
      [
        'compaction/key/trigger-fraction',
        'compaction/key/max-summary-tokens',
        'compaction/key/summary-prompt',
        'compaction/strategy/invalid',
      ],
      'the keys of the metadata say when, how long, in which words, and in which way',
      async () => {
        const id = await session({
          compaction_strategy: 'none',
          compaction_trigger_fraction: 0.2,
          compaction_max_summary_tokens: 77,
          compaction_summary_prompt: 'IN MY WORDS',
        })
        stub.replies(says(story('Once'), 2_500))
        await turn(service, id, 'tell me a story')
        stub.replies(says('IN SHORT'), says('well'))
        const seen = await turn(service, id, 'how does it end?')
        const asked = at(stub.requests, 1).body
        assert.equal(asked['max_tokens'], 77)
        assert.match(JSON.stringify(asked['system']), /IN MY WORDS/)
        assert.equal(only(seen, 'agent.thread_context_compacted')['strategy'], 'isolated-basic')
      },
    )

    verifies(
      ['compaction/key/defaults', 'compaction/always-on'],
      'it begins at eight tenths, and nothing turns it off',
      async () => {
        for (const [input, times] of [
          [7_000, 0],
          [8_500, 1],
        ] as const) {
          const id = await session({ compaction_trigger_fraction: null })
          stub.replies(says(story('Once'), input))
          await turn(service, id, 'tell me a story')
          stub.replies(says('well'))
          const seen = await turn(service, id, 'how does it end?')
          assert.equal(all(seen, 'agent.thread_context_compacted').length, times)
          if (times === 1) assert.equal(at(stub.requests, 1).body['max_tokens'], 1_000)
        }
      },
    )

    verifies(
      'compaction/key/malformed',
      'a value of a wrong type is refused, and null is as if it were not there',
      async () => {
        for (const metadata of [
          { compaction_strategy: 1 },
          { compaction_trigger_fraction: 0 },
          { compaction_trigger_fraction: 1.1 },
          { compaction_max_summary_tokens: 0 },
          { compaction_summary_prompt: [] },
        ]) {
          const body = { name: fresh('agent'), model: 'offline', harness: 'native', metadata }
          const { status } = await service.ask('POST', '/v1/agents', body)
          assert.equal(status, 400, JSON.stringify(metadata))
        }
        const id = await session({ compaction_strategy: null, compaction_summary_prompt: '' })
        const seen = await compacted(id, says('IN SHORT'), says('well'))
        assert.equal(only(seen, 'agent.thread_context_compacted')['strategy'], 'isolated-basic')
      },
    )

    for (const harness of ['default', 'native']) {
      verifies(
        ['compaction/boundary/overflow-retry', 'compaction/default-harness'],
        `a conversation that the provider refuses is compacted and asked once more, with harness ${harness}`,
        async () => {
          const id = await session({ compaction_strategy: 'isolated-structured' }, { harness })
          stub.replies(says(story('Once')))
          await turn(service, id, 'tell me a story')
          stub.requests.length = 0
          stub.replies(tooLong, says('IN SHORT'), says('well'))
          const seen = await turn(service, id, 'how does it end?')
          assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
          const wanted = harness === 'default' ? 'isolated-basic' : 'isolated-structured'
          assert.equal(only(seen, 'agent.thread_context_compacted')['strategy'], wanted)
          assert.match(sent(at(stub.requests, 2)), /IN SHORT[^]*how does it end\?/)
        },
      )

      verifies(
        [
          'compaction/boundary/overflow-retry',
          'compaction/default-harness',
          'running/error/compaction-limit',
        ],
        `a conversation that is refused again ends the turn, with harness ${harness}`,
        async () => {
          const id = await session({}, { harness })
          stub.replies(says(story('Once')))
          await turn(service, id, 'tell me a story')
          stub.requests.length = 0
          stub.replies(tooLong, says('IN SHORT'), tooLong)
          const seen = await turn(service, id, 'how does it end?')
          assert.equal(stub.requests.length, 3)
          const error = only(seen, 'session.error')['error'] as { type: string }
          assert.equal(error.type, 'compaction_limit_reached_error')
          assert.deepEqual(idleOf(seen).stop_reason, { type: 'retries_exhausted' })
        },
      )
    }

    verifies(
      'compaction/default-harness',
      'the default harness does nothing ahead, whatever its metadata says',
      async () => {
        const id = await session({ compaction_trigger_fraction: 0.1 }, { harness: 'default' })
        const seen = await compacted(id, says('well'))
        assert.equal(all(seen, 'agent.thread_context_compacted').length, 0)
        assert.match(sent(at(stub.requests, 0)), /Once/)
      },
    )

    verifies(
      ['compaction/stable-prefix', 'compaction/boundary/recovery'],
      'each request begins with the one before, and the history is read from the boundary on',
      async () => {
        const id = await session({}, { system: 'be kind' })
        await compacted(id, says('IN SHORT'), says('well'))
        stub.replies(calls, says('done'))
        await turn(service, id, 'look around')
        await service.close()
        service = await boot(database, { env })
        await rewriteBeforeBoundary(id, '{', 'unreadable{')
        await turn(service, id, 'and after the restart')
        await rewriteBeforeBoundary(id, 'unreadable{', '{')
        const [, ...main] = stub.requests
        assert.equal(main.length, 4)
        for (const [index, longer] of main.entries()) {
          const shorter = main[index - 1]
          if (!shorter) continue
          assert.ok(begins(longer, shorter), `request ${index + 1} begins with ${index}`)
          assert.equal(rest(longer), rest(shorter))
          const points = JSON.stringify(longer.body).split('"cache_control"').length - 1
          assert.equal(points, 4)
        }
      },
    )
  })
}
