import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import type { AccumulatedEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate'
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubReply, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { primaryThreadId } from '@steward/server/ground/core/text/ids.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newTeam, says, starts, teamOf, uses } from '../team.ts'
import type { SeenEvent } from '../turns.ts'
import { all, idleOf, only, post, say, textOf, turn, types } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

/** Returns the events of a stream until its thread rests, or until the session rests for a stream of the session. */
async function collect(stream: AsyncIterable<object>): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = []
  for await (const each of stream) {
    const shown = { ...each } as SeenEvent
    seen.push(shown)
    const isChild = !seen.some(({ type }) => type.startsWith('session.status'))
    if (shown.type === 'session.status_idle') break
    if (isChild && shown.type === 'session.thread_status_idle') break
  }
  return seen
}

/** Folds the pieces of a thread's message as the client does, and returns the text. */
function folded(seen: readonly SeenEvent[]): string {
  let open: AccumulatedEvent | undefined
  let pieces = 0
  for (const each of seen) {
    if (each.type === 'event_delta') pieces++
    if (each.type === 'agent.message') continue
    open = accumulateManagedAgentsEvent(open, each as never)
  }
  assert.ok(pieces > 0)
  return open?.content.map((block) => ('text' in block ? block.text : '')).join('') ?? ''
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`threads on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, { input: 1_000, output: 1_000 })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const threads = () => service.client.beta.sessions.threads

    /** Returns the threads, the primary thread first. */
    async function threadsOf(session: string) {
      const all = await Array.fromAsync(threads().list(session))
      return all.toReversed()
    }

    async function eventsOf(session_id: string, thread: string): Promise<SeenEvent[]> {
      const all = await Array.fromAsync(threads().events.list(thread, { session_id }))
      return all.map((each) => ({ ...each }) as SeenEvent)
    }

    verifies(
      [
        'threads/children',
        'threads/messages',
        'threads/session-status',
        'threads/effects',
        'events/type/agent-thread',
        'events/type/session-thread',
        'forks/threads',
        'replays/threads',
        'threads/archive',
      ],
      'a child runs a turn with a tool, and its last message wakes its parent',
      async () => {
        const session = await newTeam(service, model, [
          { name: 'reader', tools: [{ type: 'agent_toolset_20260401' }] },
        ])
        teamOf(stub, {
          boss: [starts(['reader', 'read it']), says('they work'), says('all is read')],
          reader: [uses(['bash', { command: 'echo hello' }]), says('it says hello')],
        })
        const seen = await turn(service, session, 'go')
        const spans = (each: string) => !each.startsWith('span.')
        const received = ['agent.thread_message_received', 'session.thread_status_running']
        const rests = 'session.thread_status_idle'
        assert.deepEqual(types(seen).filter(spans).toSorted(), [
          ...['agent.message', 'agent.message', ...received.slice(0, 1)],
          ...['agent.thread_message_sent', 'agent.tool_result', 'agent.tool_use'],
          ...['session.status_idle', 'session.status_running', 'session.thread_created'],
          ...[
            rests,
            rests,
            rests,
            'session.thread_status_running',
            'session.thread_status_running',
          ],
          ...['session.usage', 'user.message'],
        ])
        assert.deepEqual(types(seen).slice(-3), [rests, 'session.usage', 'session.status_idle'])
        const [primary, child] = await threadsOf(session)
        assert.ok(primary && child)
        const { parent_thread_id, status, usage, agent } = child
        assert.deepEqual(
          [parent_thread_id, status, usage?.input_tokens, 'name' in agent && agent.name],
          [primary.id, 'idle', 300, 'reader'],
        )
        assert.equal(primary.usage?.input_tokens, 450)
        assert.deepEqual(types(await eventsOf(session, child.id)).filter(spans), [
          ...received,
          ...['agent.tool_use', 'agent.tool_result', 'agent.message', 'agent.thread_message_sent'],
          rests,
        ])
        assert.deepEqual(types(await eventsOf(session, primary.id)), types(seen))
        const replayed = await service.ask('POST', '/v1/ext/replays', { session_id: session })
        assert.equal(replayed.status, 400)
        assert.match(JSON.stringify(replayed.body), /session_id: .* has threads/)

        await service.client.beta.sessions.archive(session)
        const late = await threads().archive(child.id, { session_id: session })
        assert.equal(late.status, 'terminated')
        assert.equal((await say(service, session)).at(-1)?.type, 'session.status_terminated')
      },
    )

    /** A child that calls a tool which a person must allow. */
    const asking = {
      name: 'asker',
      tools: [
        {
          type: 'agent_toolset_20260401',
          default_config: { permission_policy: { type: 'always_ask' } },
        },
      ],
    }
    const find = async (session: string, name: string) =>
      (await threadsOf(session)).find(({ agent }) => 'name' in agent && agent.name === name)
    async function childOf(session: string, name: string) {
      const found = await find(session, name)
      assert.ok(found, `a thread of ${name}`)
      return found
    }

    verifies(
      'threads/absent',
      'a thread is found in its own session alone, and a wrong query is refused by name',
      async () => {
        const session = await newTeam(service, model, [{ name: 'one' }])
        const other = await newTeam(service, model, [{ name: 'one' }])
        const [foreign] = await threadsOf(other)
        const path = `/v1/sessions/${session}/threads`
        for (const id of [foreign?.id, 'sthr_0', 'evnt'])
          for (const [method, route] of [
            ['GET', ''],
            ['GET', '/events'],
            ['GET', '/stream'],
            ['POST', '/archive'],
          ] as const) {
            const { status, body } = await service.ask(method, `${path}/${id}${route}`)
            assert.equal(status, 404, `${method} ${id}${route} ${JSON.stringify(body)}`)
          }
        const own = primaryThreadId(session)
        for (const [route, named] of [
          ['?limit=0', /limit/],
          ['?page=x', /page/],
          ['?statuses[]=asleep', /statuses/],
          [`/${own}/events?limit=0`, /limit/],
          [`/${own}/stream?event_deltas[]=nothing`, /event_deltas/],
        ] as const) {
          const { status, body } = await service.ask('GET', path + route)
          assert.deepEqual([route, status], [route, 400])
          assert.match(JSON.stringify(body), named)
        }
        assert.equal((await service.ask('GET', '/v1/sessions/sesn_0/threads')).status, 404)
      },
    )

    verifies(
      ['threads/list', 'threads/stream', 'threads/cross-post'],
      'three threads are followed by three streams, and pieces go to the stream of their thread',
      async () => {
        const session = await newTeam(service, model, [{ name: 'one' }, { name: 'two' }])
        const open = Promise.withResolvers<void>()
        const holds = (answer: StubAnswer): StubReply => ({ answer, hold: () => open.promise })
        teamOf(stub, {
          boss: [starts(['one', 'a'], ['two', 'b']), says('both work'), says('done')],
          one: [holds(says('the words of one'))],
          two: [holds(says('the words of two'))],
        })
        const deltas = { event_deltas: ['agent.message' as const] }
        const whole = service.client.beta.sessions.events
        const main = collect(await whole.stream(session, deltas))
        await post(service, session, 'go')
        await until(async () => (await find(session, 'one')) !== undefined)
        await until(async () => (await find(session, 'two')) !== undefined)
        const [one, two] = [await childOf(session, 'one'), await childOf(session, 'two')]
        const of = { session_id: session, ...deltas }
        const first = await threads().events.stream(one.id, of)
        const second = await threads().events.stream(two.id, of)
        open.resolve()
        const seen = await main
        assert.equal((await threadsOf(session)).length, 3)
        assert.equal(folded(await collect(first)), 'the words of one')
        assert.equal(folded(await collect(second)), 'the words of two')
        const texts = seen.flatMap((each) => (each.type === 'agent.message' ? textOf(each) : []))
        assert.ok(
          texts.every((text) => ['both work', 'done'].includes(text)),
          texts.join(', '),
        )
        const own = new Set(all(seen, 'agent.message').map(({ id }) => id))
        const pieces = all(seen, 'event_delta').map((each) => String(each['event_id']))
        assert.ok(pieces.every((id) => own.has(id)))
        const received = all(seen, 'agent.thread_message_received').map(textOf)
        assert.deepEqual(received.toSorted(), ['the words of one', 'the words of two'])
      },
    )

    verifies(
      ['threads/cross-post', 'threads/session-status'],
      'a child asks on the stream of the session, and the answer goes on with that child alone',
      async () => {
        const session = await newTeam(service, model, [asking, { name: 'other' }])
        const asked = teamOf(stub, {
          boss: [starts(['asker', 'ask'], ['other', 'work']), says('they work'), says('noted')],
          asker: [uses(['bash', { command: 'echo allowed' }]), says('it ran')],
          other: [says('other is done')],
        })
        const seen = await turn(service, session, 'go')
        const [use] = all(seen, 'agent.tool_use').filter((each) => each['name'] === 'bash')
        assert.ok(use)
        const stop = { type: 'requires_action', event_ids: [use.id] }
        assert.deepEqual(idleOf(seen), { stop_reason: stop })
        const child = await childOf(session, 'asker')
        assert.equal(use['session_thread_id'], child.id)
        const [own] = all(await eventsOf(session, child.id), 'agent.tool_use')
        assert.deepEqual([own?.id, own?.['session_thread_id']], [use.id, undefined])
        const before = asked['other']?.length
        const confirmation = { type: 'user.tool_confirmation', tool_use_id: use.id } as const
        const more = await turn(service, session, { ...confirmation, result: 'allow' })
        assert.equal(asked['other']?.length, before)
        const running = all(more, 'session.thread_status_running')
        assert.equal(running[0]?.['session_thread_id'], child.id)
        assert.equal(only(more, 'user.tool_confirmation')['session_thread_id'], child.id)
        assert.equal(textOf(only(more, 'agent.thread_message_received')), 'it ran')
        assert.deepEqual(idleOf(more), { stop_reason: { type: 'end_turn' } })
      },
    )

    verifies(
      ['threads/interrupts', 'threads/archive', 'threads/get'],
      'one child is interrupted, running or asking, and archived when it is idle',
      async () => {
        const session = await newTeam(service, model, [asking, { name: 'slow' }])
        const asked = teamOf(stub, {
          boss: [starts(['asker', 'ask'], ['slow', 'work']), says('they work')],
          asker: [uses(['bash', { command: 'echo never' }])],
          slow: ['hang'],
        })
        await post(service, session, 'go')
        const idles = async (name: string) => (await find(session, name))?.status === 'idle'
        await until(async () => (asked['slow']?.length ?? 0) === 1 && (await idles('asker')))
        const [asker, slow] = [await childOf(session, 'asker'), await childOf(session, 'slow')]
        const archive = (id: string) => threads().archive(id, { session_id: session })
        await assert.rejects(archive(slow.id), BadRequestError)
        await assert.rejects(archive(slow.parent_thread_id ?? ''), BadRequestError)
        const interrupt = (id: string) =>
          ({ type: 'user.interrupt', session_thread_id: id }) as const
        await post(service, session, interrupt(asker.id))
        const isClosed = async () =>
          types(await eventsOf(session, asker.id)).includes('agent.tool_result')
        await until(isClosed)
        const ended = await turn(service, session, interrupt(slow.id))
        assert.deepEqual(idleOf(ended), { stop_reason: { type: 'end_turn' } })
        assert.equal(asked['asker']?.length, 1)
        const closed = only(await eventsOf(session, asker.id), 'agent.tool_result')
        assert.match(textOf(closed), /interrupted/)
        assert.ok((await archive(asker.id)).archived_at)
        assert.ok((await archive(asker.id)).archived_at)
        const last = (await say(service, session)).at(-1)
        assert.deepEqual(
          [last?.type, last?.['session_thread_id']],
          ['session.thread_status_terminated', asker.id],
        )
        assert.equal((await threads().retrieve(slow.id, { session_id: session })).archived_at, null)
        await assert.rejects(post(service, session, interrupt(asker.id)), BadRequestError)
      },
    )

    verifies(
      ['threads/limits', 'threads/messages', 'threads/effects'],
      'a coordinator waits, sends, lists, and is refused beyond its limits',
      async () => {
        const session = await newTeam(service, model, [{ name: 'worker' }])
        const ids: string[] = []
        const toFirst = (tool: string, input: object) => () =>
          uses([tool, { session_thread_id: ids[0], ...input }])
        const many = Array.from({ length: 26 }, (_, n): [string, string] => ['worker', `job ${n}`])
        teamOf(stub, {
          boss: [
            starts(...many),
            (request) => {
              ids.push(...(JSON.stringify(request.body).match(/sthr_[0-9a-f]{32}/g) ?? []))
              return uses(['wait_for_agents', {}])
            },
            toFirst('send_to_agent', { message: 'once more' }),
            toFirst('send_to_agent', { message: 'x'.repeat(100_001) }),
            uses(['send_to_agent', { session_thread_id: 'sthr_none', message: 'lost' }]),
            uses(['list_agents', {}]),
            says('enough'),
          ],
          worker: [says('done')],
        })
        const seen = await turn(service, session, 'go')
        const results = all(seen, 'agent.tool_result').map((each) => [
          each['is_error'],
          textOf(each),
        ])
        const refused = results.filter(([isError]) => isError === true).map(([, text]) => text)
        assert.equal(refused.length, 3)
        assert.match(String(refused[0]), /25 agents are started already/)
        assert.match(String(refused[1]), /100001 characters/)
        assert.match(String(refused[2]), /no agent with session_thread_id "sthr_none"/)
        assert.equal(all(seen, 'session.thread_created').length, 25)
        assert.ok(results.some(([, text]) => String(text).includes('"finished":["sthr_')))
        const received = all(await say(service, session), 'agent.thread_message_received')
        assert.equal(received.length, 26)
        assert.deepEqual(new Set(received.map(textOf)), new Set(['done']))
      },
    )

    verifies(
      ['threads/limits', 'threads/get'],
      'a refused first agent creates no thread, and the session comes to rest',
      async () => {
        const session = await newTeam(service, model, [{ name: 'worker' }])
        teamOf(stub, { boss: [starts(['worker', 'x'.repeat(100_001)]), says('too long')] })
        const seen = await turn(service, session, 'go')
        assert.match(textOf(only(seen, 'agent.tool_result')), /100001 characters/)
        const [primary, ...others] = await threadsOf(session)
        assert.deepEqual([primary?.status, others], ['idle', []])
      },
    )
  })
}
