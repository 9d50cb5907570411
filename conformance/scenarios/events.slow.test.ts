import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { startHeldModel } from '../held-model.ts'
import { untilIdle } from '../reader.ts'
import type { SeenEvent } from '../turns.ts'
import { all, custom, logOf, message, newSession, only } from '../turns.ts'
import { post, say, textOf, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

type EventPage = { data: SeenEvent[]; [key: string]: unknown }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`events on ${database}`, () => {
    let service: TestService
    let told: string
    before(async () => {
      service = await boot(database)
      told = await newSession(service)
      await turn(service, told, 'think: hm\nsay: one')
      await turn(service, told, 'say: two')
    })
    after(() => service.close())
    const page = async (query: string, session = told) =>
      (await service.ask<EventPage>('GET', `/v1/sessions/${session}/events?${query}`)).body
    const sent = (session: string, events: unknown) =>
      service.ask('POST', `/v1/sessions/${session}/events`, { events })
    /** The ids of those that default pages show to the client. */
    const clients = (events: SeenEvent[]) =>
      events.filter(({ type }) => type !== 'session.status_run_started').map(({ id }) => id)
    const seqs = (events: SeenEvent[]) => events.map((event) => event['seq'])

    verifies(
      [
        'events/object',
        'events/field/id',
        'events/field/session-id',
        'events/field/type',
        'events/field/data',
        'events/field/created-at',
        'events/field/seq',
        'sessions/events',
      ],
      'an event has its fields at the top and under data',
      async () => {
        const { data } = await page('')
        for (const event of data) {
          const inner = event['data'] as Record<string, unknown>
          assert.match(event.id, /^sevt_/)
          assert.equal(event['session_id'], told)
          assert.equal(typeof event['seq'], 'number')
          assert.ok(Date.parse(String(event['created_at'])) > 0)
          assert.ok(Date.parse(String(event['processed_at'])) > 0)
          for (const [name, value] of Object.entries(inner)) assert.deepEqual(event[name], value)
        }
        const again = (await page('')).data
        assert.deepEqual(again, data)
      },
    )

    verifies(
      ['events/seq/gap-free', 'events/log/complete', 'sessions/log', 'service/log/two-forms'],
      'the log counts its events from 1 without a gap',
      async () => {
        const log = await logOf(service, told)
        assert.deepEqual(
          seqs(log),
          log.map((_, index) => index + 1),
        )
        assert.deepEqual((await page('limit=1000&include=chunks')).data, log)
      },
    )

    verifies(
      [
        'events/page/limit',
        'events/page/order',
        'events/page/cursor',
        'events/page/envelope',
        'events/page/after-seq',
        'limits/events-page',
      ],
      'pages lead through the log in either order',
      async () => {
        const whole = (await page('limit=1000')).data
        const walked: string[] = []
        const { events } = service.client.beta.sessions
        for await (const { id } of events.list(told, { limit: 3 })) walked.push(id)
        assert.deepEqual(walked, clients(whole))
        const back = []
        for await (const { id } of events.list(told, { limit: 2, order: 'desc' })) back.push(id)
        assert.deepEqual(back, walked.toReversed())
        const first = await page('limit=2')
        assert.deepEqual(
          [first['has_more'], first['first_id'], first['last_id']],
          [true, whole[0]?.id, whole[1]?.id],
        )
        const last = await page('limit=1000')
        assert.deepEqual([last['has_more'], last['next_page']], [false, null])
        assert.deepEqual(seqs((await page('after_seq=3')).data), seqs(whole).slice(3))
        for (const limit of [0, 1001]) {
          const refused = await service.ask('GET', `/v1/sessions/${told}/events?limit=${limit}`)
          assert.equal(refused.status, 400)
        }
        assert.equal((await page('limit=1')).data.length, 1)
      },
    )

    verifies(
      ['events/page/types', 'events/page/created-at'],
      'pages are filtered by type and by time',
      async () => {
        const query = 'types[]=agent.message&types[]=session.status_idle'
        const { data } = await page(query)
        assert.deepEqual(
          data.map(({ type }) => type),
          ['agent.message', 'session.status_idle', 'agent.message', 'session.status_idle'],
        )
        const { events } = service.client.beta.sessions
        const at = String(data[1]?.['processed_at'])
        const whole = (await page('limit=1000')).data
        const later: string[] = []
        const from = { 'created_at[gt]': at } as object
        for await (const each of events.list(told, from)) later.push(each.id)
        const expected = whole.filter((each) => String(each['processed_at']) > at)
        assert.deepEqual(later, clients(expected))
        const until = (await page(`created_at[lte]=${at}`)).data
        assert.equal(until.length + expected.length, whole.length)
      },
    )

    verifies(
      ['events/page/default-types', 'events/page/include-chunks', 'events/ext/message-cancelled'],
      'kept extension events are shown to those who ask for them',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        await turn(service, session, 'call look_up {}')
        await post(service, session, 'say: waits', { type: 'user.interrupt' })
        await untilIdle(service, session, 2)
        const type = 'system.user_message_cancelled'
        assert.deepEqual(all(await say(service, session), type), [])
        const asked = (await page(`types[]=${type}`, session)).data
        assert.equal(asked.length, 1)
        assert.equal(asked[0]?.['reason'], 'interrupt')
        const shown = (await page('include=chunks', session)).data
        assert.deepEqual(
          shown.map(({ id }) => id),
          (await logOf(service, session)).map(({ id }) => id),
        )
      },
    )

    verifies(
      [
        'events/post/accepted',
        'events/post/echoed',
        'events/post/fire-and-forget',
        'sessions/post-events',
        'dialects/post-events',
        'errors/case/events-accepted',
        'dialects/chosen-by-header',
      ],
      'accepted events come back to the client with their ids, and to others as 202',
      async () => {
        await using held = await startHeldModel(service, 'x')
        const session = await newSession(service, { model: held.model })
        // The service answers the request before the model answers.
        const bare = await service.raw('POST', `/v1/sessions/${session}/events`, {
          events: [message('one')],
        })
        await held.asked
        assert.deepEqual([bare.status, await bare.text()], [202, ''])
        assert.equal(bare.headers.get('content-type'), null)
        const { data } = (await post(service, session, 'two')) as { data: SeenEvent[] }
        const echo = data[0]
        assert.ok(echo)
        assert.match(echo.id, /^sevt_/)
        held.release()
        const seen = await untilIdle(service, session, 2)
        assert.equal(seen.filter(({ id }) => id === echo.id).length, 1)
      },
    )

    verifies(
      [
        'events/post/unknown-type',
        'events/post/all-or-nothing',
        'limits/post-events',
        'errors/type/invalid-request',
      ],
      'one refused event refuses its whole request',
      async () => {
        const session = await newSession(service)
        const bad = [
          { type: 'user.shout', content: [] },
          { type: 'user.define_outcome', description: 'x' },
          { type: 'user.message', content: 'text' },
          { type: 'user.message', content: [{ type: 'video' }] },
          { type: 'user.tool_confirmation', tool_use_id: 'x', result: 'maybe' },
          { type: 'agent.message', content: [{ type: 'text', text: 'I said' }] },
          { type: 'user.interrupt', now: true },
        ]
        for (const event of bad) {
          const refused = await sent(session, [message('say: never'), event])
          assert.equal(refused.status, 400, JSON.stringify(event))
        }
        const outcome = await sent(session, [bad[1]])
        assert.match(JSON.stringify(outcome.body), /events\.0\.rubric/)
        assert.equal((await sent(session, [])).status, 400)
        const many = Array.from({ length: 1001 }, () => message('say: x'))
        assert.equal((await sent(session, many)).status, 400)
        assert.deepEqual(await logOf(service, session), [])
        assert.equal((await sent(session, many.slice(1))).status, 202)
        await untilIdle(service, session)
      },
    )

    verifies(
      ['events/post/system-message', 'events/type/system-message'],
      'a system message is the last event of its post, right behind a message',
      async () => {
        const session = await newSession(service)
        const system = { type: 'system.message', content: [{ type: 'text', text: 'Be kind.' }] }
        for (const events of [[system], [system, message('x')], [message('x'), system, system]]) {
          assert.equal((await sent(session, events)).status, 400)
        }
        await sent(session, [message('say: hello'), system])
        const seen = await untilIdle(service, session)
        assert.deepEqual(types(seen).slice(1, 3), ['user.message', 'system.message'])
        assert.equal(textOf(only(seen, 'system.message')), 'Be kind.')
      },
    )

    verifies(['events/post/deny-message'], 'a reason goes with a denial only', async () => {
      const session = await newSession(service, { tools: [custom] })
      const call = only(await turn(service, session, 'call look_up {}'), 'agent.custom_tool_use')
      const confirm = { type: 'user.tool_confirmation', tool_use_id: call.id }
      const wrong = { ...confirm, result: 'allow', deny_message: 'no' }
      assert.equal((await sent(session, [wrong])).status, 400)
      const other = await sent(session, [{ ...confirm, result: 'allow' }])
      assert.equal(other.status, 400)
      assert.match(JSON.stringify(other.body), /custom_tool_result/)
    })

    verifies(
      'events/durable',
      'events of the log do not change while the session goes on',
      async () => {
        const session = await newSession(service)
        await turn(service, session, 'say: one')
        const before = await logOf(service, session)
        await turn(service, session, 'say: two')
        await service.client.beta.sessions.archive(session)
        assert.deepEqual((await logOf(service, session)).slice(0, before.length), before)
      },
    )
  })
}
