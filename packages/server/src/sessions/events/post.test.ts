import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ClientEvent, EventOf } from '@steward/protocol/events.ts'
import type { BusMessage } from '../../bus/bus.ts'
import { memoryBus } from '../../bus/memory.ts'
import { PlatformError } from '../../core/errors.ts'
import { newId, threadOf } from '../../core/ids.ts'
import type { Database } from '../../database/database.ts'
import { databases } from '../../database/fixture.ts'
import { openCalls } from '../../events/calls.ts'
import { keep, tenant } from '../../events/fixture.ts'
import { readHead } from '../../events/head.ts'
import { waiting } from '../../events/inbox.ts'
import type { EventRow } from '../../events/log.ts'
import { readEvents, showEvent } from '../../events/log.ts'
import { newSession } from '../fixture.ts'
import { archiveSession, deleteSession } from '../update.ts'
import { announce, postEvents } from './post.ts'

const text = (words: string) => [{ type: 'text' as const, text: words }]
const message = (words = 'hello'): ClientEvent => ({ type: 'user.message', content: text(words) })
const system = (words = 'be brief'): ClientEvent => ({
  type: 'system.message',
  content: text(words),
})
const interrupt: ClientEvent = { type: 'user.interrupt' }
const answer = (custom_tool_use_id: string): ClientEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id,
  content: text('42'),
})
const confirm = (tool_use_id: string, result: 'allow' | 'deny' = 'allow'): ClientEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id,
  result,
})

const custom = (): EventOf<'agent.custom_tool_use'> => ({
  id: newId('event'),
  type: 'agent.custom_tool_use',
  name: 'mine',
  input: {},
})
const asked = (): EventOf<'agent.tool_use'> => ({
  id: newId('event'),
  type: 'agent.tool_use',
  name: 'bash',
  input: {},
  evaluated_permission: 'ask',
})
const ran = (): EventOf<'agent.tool_use'> => ({ ...asked(), evaluated_permission: 'allow' })
const needsAction = (...event_ids: string[]): EventOf<'session.status_idle'> => ({
  id: newId('event'),
  type: 'session.status_idle',
  stop_reason: { type: 'requires_action', event_ids },
  stop_details: null,
})

const posting = (database: Database, session: string, events: ClientEvent[], now = 0) =>
  database.write((tx) => postEvents(tx, tenant, session, events, now))

const state = async ({ read }: Database, session: string) => ({
  log: await readEvents(read, tenant, session, { limit: 1000, extensions: true }),
  inbox: await waiting(read, tenant, session),
  calls: await openCalls(read, tenant, session),
  head: await readHead(read, tenant, session),
})

const shown = (session: string, rows: EventRow[]) => rows.map((row) => showEvent(session, row))

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof PlatformError && error.kind === 'invalid_request' && pattern.test(error.message)

for (const [dialect, open] of Object.entries(databases)) {
  describe(`what a client posts, on ${dialect}`, () => {
    it('waits for a runner when it is a message, and is echoed as waiting', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const now = Date.UTC(2026, 0, 1)
      const posted = await posting(database, session, [message('a'), message('b')], now)
      assert.equal(posted.echoes.length, 2)
      const [first] = posted.echoes
      assert.deepEqual(first, {
        id: first?.id,
        type: 'user.message',
        session_id: session,
        seq: null,
        created_at: '2026-01-01T00:00:00.000Z',
        processed_at: null,
        content: text('a'),
        data: { content: text('a') },
      })
      assert.deepEqual(posted.queued, posted.echoes)
      const { appended, due, interrupt: interrupts } = posted
      assert.deepEqual(
        { appended, due, interrupts },
        { appended: false, due: true, interrupts: false },
      )
      const { log, inbox, head } = await state(database, session)
      assert.deepEqual(log, [])
      assert.deepEqual(
        inbox.map(({ event }) => event.id),
        posted.echoes.map(({ id }) => id),
      )
      assert.equal(head.due, 1)
    })

    it('is kept at once when it answers a call, and echoed as it is kept', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, other] = [custom(), asked()]
      await keep(database, session, [mine, other, needsAction(mine.id, other.id)])
      const posted = await posting(database, session, [answer(mine.id), confirm(other.id, 'deny')])
      assert.deepEqual(posted.queued, [])
      assert.ok(posted.appended && posted.due)
      const { log, calls, head } = await state(database, session)
      assert.deepEqual(
        posted.echoes.map(({ id, seq, type }) => ({ id, seq, type })),
        log.slice(-2).map(({ id, seq, type }) => ({ id, seq, type })),
      )
      assert.ok(posted.echoes.every(({ processed_at }) => processed_at !== null))
      assert.deepEqual(
        calls.map((call) => call.state),
        ['denied'],
      )
      assert.equal(head.due, 1)
    })

    it('is taken without effect when it answers a call a second time', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, other] = [custom(), asked()]
      await keep(database, session, [mine, other, needsAction(mine.id, other.id)])
      const events = [confirm(other.id), answer(mine.id), system()]
      await posting(database, session, events)
      const before = await state(database, session)
      const again = await posting(database, session, events)
      assert.deepEqual(again.echoes, shown(session, before.log.slice(-3)))
      assert.ok(!again.appended && !again.due)
      const late = await posting(database, session, [confirm(other.id, 'deny')])
      assert.deepEqual(late.echoes, again.echoes.slice(0, 1))
      assert.deepEqual(await state(database, session), before)
    })

    it('is shown what closed the call when it answers too late', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, other] = [custom(), asked()]
      const content = text('interrupted')
      await keep(database, session, [
        mine,
        other,
        { id: newId('event'), type: 'agent.tool_result', tool_use_id: other.id, content },
        {
          id: newId('event'),
          type: 'user.custom_tool_result',
          custom_tool_use_id: mine.id,
          content: text(`{"tool_use_id":"${other.id}"}`),
        },
      ])
      const before = await state(database, session)
      const posted = await posting(database, session, [answer(mine.id), confirm(other.id)])
      assert.deepEqual(posted.echoes, shown(session, before.log.slice(-2).toReversed()))
      assert.deepEqual(await state(database, session), before)
    })

    it('is refused when it answers a call that asks nobody', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [started, done] = [ran(), ran()]
      await keep(database, session, [
        started,
        done,
        { id: newId('event'), type: 'agent.tool_result', tool_use_id: done.id, content: [] },
      ])
      const before = await state(database, session)
      for (const { id } of [started, done]) {
        for (const event of [confirm(id), confirm(id, 'deny'), answer(id)]) {
          const pattern = /^events\.1\.(custom_)?tool_use_id: call sevt_\w+ asks nobody/
          await assert.rejects(posting(database, session, [message(), event]), refused(pattern))
        }
      }
      assert.deepEqual(await state(database, session), before)
    })

    it('is refused behind a result that was given before without it', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keep(database, session, [call])
      await posting(database, session, [answer(call.id)])
      const before = await state(database, session)
      await assert.rejects(
        posting(database, session, [answer(call.id), system()]),
        refused(/^events\.1: stands behind a result that was given before/),
      )
      assert.deepEqual(await state(database, session), before)
    })

    it('names no thread but the primary one', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await newSession(database, 'running'), await newSession(database)]
      const call = custom()
      await keep(database, session, [call])
      const before = await state(database, session)
      for (const session_thread_id of [threadOf(other), 'sthr_none', session, '']) {
        for (const event of [interrupt, answer(call.id), confirm(call.id)]) {
          await assert.rejects(
            posting(database, session, [{ ...event, session_thread_id } as ClientEvent]),
            refused(/^events\.0\.session_thread_id: \w* is no thread of this session/),
          )
        }
      }
      assert.deepEqual(await state(database, session), before)
      const session_thread_id = threadOf(session)
      const named = { type: 'user.interrupt', session_thread_id } as const
      const posted = await posting(database, session, [
        { ...named, session_thread_id: null },
        named,
      ])
      assert.ok(posted.interrupt)
    })

    it('answers a call once, also when one request says it twice', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keep(database, session, [call])
      const { echoes } = await posting(database, session, [answer(call.id), answer(call.id)])
      const { log } = await state(database, session)
      assert.equal(log.length, 2)
      assert.deepEqual(echoes, shown(session, log.slice(-1).concat(log.slice(-1))))
    })

    it('changes nothing at all when one of its events names an unknown call', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, foreign] = [await newSession(database), await newSession(database)]
      const [mine, theirs] = [custom(), custom()]
      await keep(database, session, [mine])
      await keep(database, foreign, [theirs])
      const before = await state(database, session)
      const wrong = [
        [confirm('sevt_none'), /^events\.2\.tool_use_id: sevt_none is no tool call/],
        [answer('sevt_none'), /^events\.2\.custom_tool_use_id: sevt_none is no tool call/],
        [answer(theirs.id), /is no tool call of this session/],
        [confirm(mine.id), /is answered by user\.custom_tool_result/],
      ] as const
      for (const [event, pattern] of wrong) {
        const post = posting(database, session, [message(), answer(mine.id), event])
        await assert.rejects(post, refused(pattern))
        assert.deepEqual(await state(database, session), before)
      }
    })

    it('refuses what is not built yet, by name', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const result: ClientEvent = { type: 'user.tool_result', tool_use_id: 'sevt_1' }
      await assert.rejects(
        posting(database, session, [result]),
        refused(/^events\.0\.type: user\.tool_result.*not yet supported/),
      )
      const file: ClientEvent = {
        type: 'user.message',
        content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
      }
      await assert.rejects(
        posting(database, session, [message(), file]),
        refused(/^events\.1\.content\.0\.source: a file source is not yet supported/),
      )
      assert.deepEqual((await state(database, session)).inbox, [])
    })

    it('records no interrupt where there is nothing to stop', async () => {
      await using opened = await open()
      const { database } = opened
      for (const status of ['idle', 'pending'] as const) {
        const session = await newSession(database, status)
        const posted = await posting(database, session, [interrupt])
        assert.deepEqual(posted.echoes, [])
        assert.ok(!posted.appended && !posted.due && !posted.interrupt)
        const { log, inbox, head } = await state(database, session)
        assert.deepEqual([log, inbox, head.due], [[], [], 0])
      }
    })

    it('takes an interrupt of a turn, of what waits, and of a call that waits', async () => {
      await using opened = await open()
      const { database } = opened
      const running = await newSession(database, 'running')
      const queued = await newSession(database)
      await posting(database, queued, [message()])
      const asking = await newSession(database)
      const call = custom()
      await keep(database, asking, [call, needsAction(call.id)])
      const together = await newSession(database)
      for (const [session, events] of [
        [running, [interrupt]],
        [queued, [interrupt]],
        [asking, [interrupt]],
        [together, [message(), interrupt]],
      ] as const) {
        const posted = await posting(database, session, [...events])
        assert.ok(posted.interrupt && posted.due)
        assert.equal(posted.echoes.at(-1)?.processed_at, null)
        const { inbox } = await state(database, session)
        assert.equal(inbox.at(-1)?.event.type, 'user.interrupt')
      }
    })

    it('puts a system message with what it stands behind', async () => {
      await using opened = await open()
      const { database } = opened
      const [waits, kept] = [await newSession(database), await newSession(database)]
      await posting(database, waits, [message(), system()])
      const behind = await state(database, waits)
      assert.deepEqual(
        behind.inbox.map(({ event }) => event.type),
        ['user.message', 'system.message'],
      )
      assert.deepEqual(behind.log, [])
      const call = custom()
      await keep(database, kept, [call])
      const posted = await posting(database, kept, [answer(call.id), system()])
      const now = await state(database, kept)
      assert.deepEqual(
        now.log.map(({ type }) => type),
        ['agent.custom_tool_use', 'user.custom_tool_result', 'system.message'],
      )
      assert.equal(posted.echoes[1]?.seq, 3)
    })

    it('is queued, and wakes nobody, while the session waits for an answer', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keep(database, session, [call, needsAction(call.id)])
      const posted = await posting(database, session, [message()])
      assert.equal(posted.queued.length, 1)
      assert.ok(!posted.due)
      assert.equal((await state(database, session)).head.due, 0)
    })

    it('is refused by a session that is archived, deleted, or not this tenant’s', async () => {
      await using opened = await open()
      const { database } = opened
      const [archived, deleted, session] = [
        await newSession(database),
        await newSession(database),
        await newSession(database),
      ]
      await database.write(async (tx) => {
        await archiveSession(tx, tenant, archived, 0)
        await deleteSession(tx, tenant, deleted, 0)
      })
      const post = posting(database, archived, [message()])
      await assert.rejects(post, refused(/is archived and takes no more events/))
      const absent = (id: string) => (error: unknown) =>
        error instanceof PlatformError &&
        error.kind === 'not_found' &&
        error.message === `session ${id} does not exist`
      await assert.rejects(posting(database, deleted, [message()]), absent(deleted))
      await assert.rejects(posting(database, 'sesn_none', [message()]), absent('sesn_none'))
      const foreign = database.write((tx) =>
        postEvents(tx, 'wrkspc_other', session, [message()], 0),
      )
      await assert.rejects(foreign, absent(session))
    })

    it('rings after the commit: for readers, for runners, and for the one to stop', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keep(database, session, [call])
      const bus = memoryBus()
      const heard: BusMessage[] = []
      bus.subscribe(`session:${session}`, (word) => heard.push(word))
      bus.subscribe('work', (word) => heard.push(word))
      const events = [answer(call.id), message(), interrupt]
      const posted = await posting(database, session, events)
      announce(bus, tenant, session, posted)
      assert.deepEqual(heard, [
        { kind: 'queued', events: posted.queued },
        { kind: 'ring' },
        { kind: 'interrupt' },
        { tenant, session },
      ])
      heard.length = 0
      announce(bus, tenant, session, await posting(database, session, [answer(call.id)]))
      assert.deepEqual(heard, [])
    })
  })
}
