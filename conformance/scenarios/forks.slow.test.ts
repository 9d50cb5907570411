/** Sessions that begin with the history of another one. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Session } from '@steward/protocol/sessions.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import {
  all,
  custom,
  fresh,
  logOf,
  newSession,
  only,
  post,
  result,
  say,
  textOf,
  turn,
} from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }] as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`forks on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database, { env: { CHECKPOINTS: 'idle' } })))
    after(() => service.close())
    const ask = (session: string, body: object = {}) =>
      service.ask<Session & LooseBody>('POST', `/v1/ext/sessions/${session}/fork`, body)
    async function fork(session: string, body: object = {}): Promise<Session> {
      const made = await ask(session, body)
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body
    }
    const seqOf = (event: SeenEvent | undefined) => Number(event?.['seq'])
    const withoutSession = (events: readonly SeenEvent[]) =>
      events.map(({ session_id: _, ...event }) => event)

    verifies(
      [
        'forks/create',
        'forks/history',
        'forks/field/forked-from',
        'forks/rests',
        'forks/same-agent',
        'forks/usage',
        'sessions/summaries/filters',
      ],
      'a fork has the events up to one of them, and goes on by itself',
      async () => {
        const id = await newSession(
          service,
          { system: 'old' },
          { metadata: { a: 'b' }, title: 't' },
        )
        await turn(service, id, 'say: one')
        await turn(service, id, 'say: two')
        const log = await say(service, id)
        const [first] = all(log, 'agent.message')
        const made = await fork(id, { at_seq: seqOf(first), title: 'another' })
        assert.deepEqual(
          [made.title, made.metadata, made.status, made.agent.system],
          ['another', { a: 'b' }, 'idle', 'old'],
        )
        assert.deepEqual(made.forked_from, {
          session_id: id,
          seq: seqOf(first),
          checkpoint: null,
        })
        assert.deepEqual([made.usage.input_tokens, made.usage.output_tokens], [0, 0])
        const copied = await say(service, made.id)
        const common = log.filter((event) => seqOf(event) <= seqOf(first))
        assert.deepEqual(withoutSession(copied.slice(0, common.length)), withoutSession(common))
        assert.deepEqual(
          copied.slice(common.length).map(({ type }) => type),
          ['span.model_request_end', 'session.usage', 'session.status_idle'],
        )
        const seen = await turn(service, made.id, 'say: three')
        assert.equal(textOf(only(seen, 'agent.message')), 'three')
        assert.deepEqual(await say(service, id), log, 'the session itself is as it was')
        const again = await fork(made.id)
        assert.equal(again.title, 'another')
        type Page = { data: { id: string }[] }
        const forksOf = async (session: string) =>
          (await service.ask<Page>('GET', `/v1/ext/sessions?forked_from=${session}`)).body.data.map(
            (each) => each.id,
          )
        assert.deepEqual(await forksOf(id), [made.id])
        assert.deepEqual(await forksOf(made.id), [again.id])
        assert.deepEqual(await forksOf(again.id), [])
        assert.deepEqual(await forksOf('sesn_%25'), [])
        assert.equal((await service.client.beta.sessions.retrieve(id)).title, 't')
        await service.client.beta.sessions.delete(id)
        await turn(service, made.id, 'say: four')
      },
    )

    verifies(
      'forks/open-calls',
      'a call that has no result by then gets a result in the fork, and none in the session',
      async () => {
        const id = await newSession(service, { tools: [custom] })
        const asked = await turn(service, id, 'call look_up {"what": "x"}')
        const call = only(asked, 'agent.custom_tool_use')
        const { id: waiting } = await fork(id)
        const closed = only(await say(service, waiting), 'user.custom_tool_result')
        assert.equal(closed['custom_tool_use_id'], call.id)
        assert.match(textOf(closed), /forked before this call had a result/)
        const told = await turn(service, waiting, 'say: on')
        assert.equal(textOf(only(told, 'agent.message')), 'on')
        const answered = await turn(service, id, result(call.id, 'found'))
        assert.match(textOf(only(answered, 'agent.message')), /found/)
        const behind = await fork(id, { at_seq: seqOf(only(answered, 'user.custom_tool_result')) })
        assert.equal(all(await say(service, behind.id), 'user.custom_tool_result').length, 1)
      },
    )

    verifies(
      'forks/open-calls',
      'a command that has its result by then gets no second result in the fork',
      async () => {
        const id = await newSession(service, { tools })
        const ran = await turn(service, id, 'run: echo one')
        const { id: fromResult } = await fork(id, {
          at_seq: seqOf(only(ran, 'agent.tool_result')),
        })
        const results = all(await say(service, fromResult), 'agent.tool_result')
        assert.deepEqual(results.map(textOf), [textOf(only(ran, 'agent.tool_result'))])
      },
    )

    verifies(
      ['forks/agent', 'forks/refused'],
      'a fork may have another version of the agent, and an impossible one is refused by name',
      async () => {
        const id = await newSession(service, { system: 'one' })
        await turn(service, id, 'say: one')
        const { agent_id } = (await service.ask<Session>('GET', `/v1/sessions/${id}`)).body
        await service.client.beta.agents.update(agent_id, { version: 1, system: 'two' })
        assert.equal((await fork(id)).agent.system, 'one')
        const newest = await fork(id, { agent: agent_id })
        assert.deepEqual([newest.agent.system, newest.agent_version], ['two', 2])
        const agent = { type: 'agent_with_overrides', id: agent_id, version: 1, system: 'three' }
        assert.equal((await fork(id, { agent })).agent.system, 'three')
        const refused = async (session: string, body: object, status: number, words: RegExp) => {
          const answer = await ask(session, body)
          assert.equal(answer.status, status)
          assert.match(JSON.stringify(answer.body), words)
        }
        await refused(id, { at_seq: 9_999 }, 400, /at_seq: the log of session/)
        await refused(id, { at_seq: 0 }, 400, /at_seq/)
        await refused(id, { agent: 'agent_nowhere' }, 404, /agent/)
        await refused(id, { environment_id: 'x' }, 400, /environment_id/)
        await refused('sesn_nowhere', {}, 404, /session/)
        const { id: pending } = await fork(await newSession(service))
        assert.equal(
          (await service.ask('GET', `/v1/sessions/${pending}`)).body['status'],
          'pending',
        )
        await service.client.beta.sessions.archive(id)
        const open = await fork(id)
        assert.equal(open.status, 'idle')
      },
    )

    verifies(
      ['forks/workspace', 'forks/checkpoint-shared', 'forks/resources'],
      'the working folder is that of the nearest checkpoint, whatever becomes of the session',
      async () => {
        const file = await service.client.beta.files.upload({
          file: new File(['given'], 'given.txt'),
        })
        const resources = [{ type: 'file', file_id: file.id, mount_path: '/workspace/given.txt' }]
        const id = await newSession(service, { tools }, { resources })
        const run = (session: string, command: string) => turn(service, session, `run: ${command}`)
        const first = await run(id, 'echo one > note; cat given.txt')
        assert.match(textOf(only(first, 'agent.tool_result')), /given/)
        const second = await run(id, 'echo two >> note')
        const middle = await fork(id, { at_seq: seqOf(only(first, 'agent.message')) })
        const at = middle.forked_from?.checkpoint
        assert.ok(at && at.seq < seqOf(second[0]), JSON.stringify(at))
        const before = await fork(id, { at_seq: seqOf(only(first, 'agent.tool_use')) })
        assert.equal(before.forked_from?.checkpoint, null)
        const newest = await fork(id)
        assert.ok(Number(newest.forked_from?.checkpoint?.seq) > at.seq)
        await service.client.beta.sessions.delete(id)
        const said = async (session: string) =>
          textOf(only(await run(session, 'cat note given.txt'), 'agent.tool_result'))
        assert.match(await said(middle.id), /^one\ngiven/)
        assert.match(await said(middle.id), /^one\ngiven/)
        assert.match(await said(newest.id), /^one\ntwo\ngiven/)
        const again = await fork(middle.id, { at_seq: seqOf(only(first, 'agent.message')) })
        assert.match(await said(again.id), /^one\ngiven/)
        assert.match(await said(before.id), /note: No such file/)
      },
    )

    verifies(
      ['forks/threads', 'forks/usage', 'sessions/field/wakeup-at'],
      'a team is forked before its first thread and wherever its children rest, and nobody wakes the fork',
      async () => {
        const { client } = service
        const member = await client.beta.agents.create({ name: 'member', model: 'offline' })
        const waking = { type: 'agent_toolset_20260401', schedule_wakeup: {} }
        const id = await newSession(service, {
          tools: [waking],
          multiagent: { type: 'coordinator', agents: [member.id] },
        })
        const first = await turn(
          service,
          id,
          'call schedule_wakeup {"after_seconds": 3600, "note": "n"}',
        )
        const make = { agent: 'member', message: 'say: hello' }
        const second = await turn(service, id, `call create_agent ${JSON.stringify(make)}`)
        const created = only(second, 'session.thread_created')
        const begun = await ask(id, { at_seq: seqOf(created) })
        assert.equal(begun.status, 400)
        const rested = all(second, 'session.thread_status_idle').find(
          (each) => each['agent_name'] === 'member',
        )
        assert.match(
          JSON.stringify(begun.body),
          new RegExp(
            `at_seq: .*\\(member\\) work at event ${seqOf(created)}.* fork at event ${seqOf(created) - 1}, or at event ${seqOf(rested)}, when they rest`,
          ),
        )
        assert.equal((await ask(id, { at_seq: seqOf(rested) - 1 })).status, 400)
        await fork(id, { at_seq: seqOf(rested) })
        const call = all(second, 'agent.tool_use').find((each) => each['name'] === 'create_agent')
        for (const at of [first.at(-1), call]) {
          const made = await fork(id, { at_seq: seqOf(at) })
          assert.equal(made.wakeup_at, null)
          assert.equal(all(await logOf(service, made.id), 'session.thread_created').length, 0)
          const again = await turn(service, made.id, `call create_agent ${JSON.stringify(make)}`)
          assert.equal(all(again, 'agent.thread_message_received').length, 1)
          const threads = await Array.fromAsync(client.beta.sessions.threads.list(made.id))
          assert.equal(threads.length, 2)
        }
        const whole = await service.ask<Session>('GET', `/v1/sessions/${id}`)
        assert.ok(whole.body.wakeup_at)
      },
    )

    verifies(
      ['forks/threads', 'forks/history'],
      'a fork has the children of its session as threads that have ended, and starts others',
      async () => {
        const { client } = service
        const member = await client.beta.agents.create({
          ...{ name: 'member', model: 'offline', tools: [custom] },
        })
        const id = await newSession(service, {
          multiagent: { type: 'coordinator', agents: [member.id] },
        })
        const make = (message: string) =>
          `call create_agent ${JSON.stringify({ agent: 'member', message })}`
        const first = await turn(service, id, make('say: hello'))
        const created = only(first, 'session.thread_created')
        const child = String(created['session_thread_id'])
        const made = await fork(id)
        const at = made.forked_from?.seq ?? 0
        const own = await logOf(service, made.id)
        const ends = own.filter(({ seq }) => Number(seq) > at).map(({ type }) => type)
        assert.deepEqual(ends, [
          ...['session.thread_status_terminated', 'session.thread_status_idle'],
          ...['session.usage', 'session.status_idle'],
        ])
        const primary = `sthr_${made.id.slice('sesn_'.length)}`
        const names = new Set(own.flatMap((each) => each['session_thread_id'] ?? []))
        assert.deepEqual(
          names,
          new Set([child, primary]),
          'no event names the thread of the session',
        )
        const threads = await Array.fromAsync(client.beta.sessions.threads.list(made.id))
        assert.deepEqual(
          threads.map((each) => [each.id, each.status]),
          [
            [primary, 'idle'],
            [child, 'terminated'],
          ],
        )
        type Page = { data: SeenEvent[] }
        const eventsOf = async (session: string) =>
          (await service.ask<Page>('GET', `/v1/sessions/${session}/threads/${child}/events`)).body
            .data
        const story = await eventsOf(made.id)
        const before = await eventsOf(id)
        assert.deepEqual(
          story.slice(0, before.length).map(({ id: event, type }) => [event, type]),
          before.map(({ id: event, type }) => [event, type]),
        )
        assert.deepEqual(made.usage.input_tokens, 0)
        const told = await turn(
          service,
          made.id,
          `call send_to_agent ${JSON.stringify({ session_thread_id: child, message: 'say: x' })}`,
        )
        assert.match(textOf(only(told, 'agent.tool_result')), /archived|takes no more messages/)
        const again = await turn(service, made.id, make('say: again'))
        assert.equal(all(again, 'agent.thread_message_received').length, 1)
        const asks = await turn(service, id, make('call look_up {"what": "x"}'))
        assert.equal(all(asks, 'agent.custom_tool_use').length, 1)
        const waiting = await ask(id)
        assert.equal(waiting.status, 400)
        assert.match(JSON.stringify(waiting.body), /or at a later one, once they rest/)
        assert.equal((await fork(made.id)).forked_from?.session_id, made.id)
      },
    )

    verifies('forks/long-texts', 'texts of many megabytes are in the fork too', async () => {
      const id = await newSession(service)
      const long = `say: short\n${'x'.repeat(3_000_000)}`
      await turn(service, id, long)
      const made = await fork(id, { title: fresh('fork') })
      await service.client.beta.sessions.delete(id)
      const [message] = all(await say(service, made.id), 'user.message')
      assert.equal(textOf(message ?? { id: '', type: '' }).length, long.length)
      await post(service, made.id, { type: 'user.interrupt' })
    })
  })
}
