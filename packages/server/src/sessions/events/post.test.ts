import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { BusMessage } from '../../ground/bus/bus.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import { systemClock } from '@steward/base/time.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, tenant } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import { archiveSession, deleteSession } from '../update.ts'
import { postEvents, postInUnits } from './post.ts'
import {
  answer,
  confirm,
  custom,
  interrupt,
  message,
  needsAction,
  postEventsNow,
  isRefusedWith,
  readState,
  system,
  text,
} from './fixture.ts'

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`an event that a client posts, on ${dialect}`, () => {
    it('waits for a runner when it is a message, and is echoed as waiting', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const now = Date.UTC(2026, 0, 1)
      const posted = await postEventsNow(database, session, [message('a'), message('b')], now)
      assert.equal(posted.echoes.length, 2)
      const [first] = posted.echoes
      assert.deepEqual(first, {
        id: first?.id,
        type: 'user.message',
        seq: null,
        created_at: '2026-01-01T00:00:00.000Z',
        processed_at: null,
        data: JSON.stringify({ content: text('a') }),
      })
      assert.deepEqual(posted.queued, posted.echoes)
      const { appended, due, interrupt: interrupts } = posted
      assert.deepEqual(
        { appended, due, interrupts },
        { appended: false, due: true, interrupts: false },
      )
      const { log, inbox, head } = await readState(database, session)
      assert.deepEqual(log, [])
      assert.deepEqual(
        inbox.map(({ id }) => id),
        posted.echoes.map(({ id }) => id),
      )
      assert.equal(head.due, 1)
    })

    it('names no thread but the primary one', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await newSession(database, 'running'), await newSession(database)]
      const call = custom()
      await keepEvents(database, session, [call])
      const before = await readState(database, session)
      for (const session_thread_id of [primaryThreadId(other), 'sthr_none', session, '']) {
        for (const event of [interrupt, answer(call.id), confirm(call.id)]) {
          await assert.rejects(
            postEventsNow(database, session, [{ ...event, session_thread_id } as ClientEvent]),
            isRefusedWith(/^events\.0\.session_thread_id: \w* is no thread of this session/),
          )
        }
      }
      assert.deepEqual(await readState(database, session), before)
      const session_thread_id = primaryThreadId(session)
      const named = { type: 'user.interrupt', session_thread_id } as const
      const posted = await postEventsNow(database, session, [
        { ...named, session_thread_id: null },
        named,
      ])
      assert.ok(posted.interrupt)
    })

    it('changes nothing at all when one of its events names an unknown call', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, foreign] = [await newSession(database), await newSession(database)]
      const [mine, theirs] = [custom(), custom()]
      await keepEvents(database, session, [mine])
      await keepEvents(database, foreign, [theirs])
      const before = await readState(database, session)
      const wrong = [
        [confirm('sevt_none'), /^events\.2\.tool_use_id: sevt_none is no tool call/],
        [answer('sevt_none'), /^events\.2\.custom_tool_use_id: sevt_none is no tool call/],
        [answer(theirs.id), /is no tool call of this session/],
        [confirm(mine.id), /is answered by user\.custom_tool_result/],
      ] as const
      for (const [event, pattern] of wrong) {
        const post = postEventsNow(database, session, [message(), answer(mine.id), event])
        await assert.rejects(post, isRefusedWith(pattern))
        assert.deepEqual(await readState(database, session), before)
      }
    })

    it('refuses a message with a file that is not there', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const file: ClientEvent = {
        type: 'user.message',
        content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
      }
      await assert.rejects(
        postEventsNow(database, session, [message(), file]),
        (error: unknown) => error instanceof PlatformError && error.kind === 'not_found',
      )
      assert.deepEqual((await readState(database, session)).inbox, [])
    })

    it('records no interrupt where there is nothing to stop', async () => {
      await using opened = await open()
      const { database } = opened
      for (const status of ['idle', 'pending'] as const) {
        const session = await newSession(database, status)
        const posted = await postEventsNow(database, session, [interrupt])
        assert.deepEqual(posted.echoes, [])
        assert.ok(!posted.appended && !posted.due && !posted.interrupt)
        const { log, inbox, head } = await readState(database, session)
        assert.deepEqual([log, inbox, head.due], [[], [], 0])
      }
    })

    it('takes an interrupt of a turn, of what waits, and of a call that waits', async () => {
      await using opened = await open()
      const { database } = opened
      const running = await newSession(database, 'running')
      const queued = await newSession(database)
      await postEventsNow(database, queued, [message()])
      const asking = await newSession(database)
      const call = custom()
      await keepEvents(database, asking, [call, needsAction(call.id)])
      const together = await newSession(database)
      for (const [session, events] of [
        [running, [interrupt]],
        [queued, [interrupt]],
        [asking, [interrupt]],
        [together, [message(), interrupt]],
      ] as const) {
        const posted = await postEventsNow(database, session, [...events])
        assert.ok(posted.interrupt && posted.due)
        assert.equal(posted.echoes.at(-1)?.processed_at, null)
        const { inbox } = await readState(database, session)
        assert.equal(inbox.at(-1)?.type, 'user.interrupt')
      }
    })

    it('puts a system message with the event before it', async () => {
      await using opened = await open()
      const { database } = opened
      const [waits, kept] = [await newSession(database), await newSession(database)]
      await postEventsNow(database, waits, [message(), system()])
      const behind = await readState(database, waits)
      assert.deepEqual(
        behind.inbox.map(({ type }) => type),
        ['user.message', 'system.message'],
      )
      assert.deepEqual(behind.log, [])
      const call = custom()
      await keepEvents(database, kept, [call])
      const posted = await postEventsNow(database, kept, [answer(call.id), system()])
      const now = await readState(database, kept)
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
      await keepEvents(database, session, [call, needsAction(call.id)])
      const posted = await postEventsNow(database, session, [message()])
      assert.deepEqual(posted.queued, posted.echoes)
      assert.ok(!posted.due)
      assert.equal((await readState(database, session)).head.due, 0)
    })

    it('has a system message behind it only where a result of the request answers a call', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [first, second] = [custom(), custom()]
      await keepEvents(database, session, [first, second, needsAction(first.id, second.id)])
      const post = (...events: Parameters<typeof postEventsNow>[2]) =>
        postEventsNow(database, session, events)
      const ref = { tenant, session, clock: systemClock }
      const waits = isRefusedWith(
        /^events\.1\.type: the session waits for an answer .*user\.tool_result/,
      )
      await assert.rejects(post(message(), system()), waits)
      await assert.rejects(postInUnits(database, ref, [message(), system()]), waits)
      assert.equal((await readState(database, session)).inbox.length, 0)
      assert.equal((await post(answer(first.id), system())).echoes[1]?.seq, 5)
      const behind = await post(answer(second.id), message(), system())
      assert.deepEqual(
        behind.echoes.map(({ type, seq }) => [type, seq]),
        [
          ['user.custom_tool_result', 6],
          ['user.message', null],
          ['system.message', null],
        ],
      )
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
      const post = postEventsNow(database, archived, [message()])
      await assert.rejects(post, isRefusedWith(/is archived and takes no more events/))
      const absent = (id: string) => (error: unknown) =>
        error instanceof PlatformError &&
        error.kind === 'not_found' &&
        error.message === `session ${id} does not exist`
      await assert.rejects(postEventsNow(database, deleted, [message()]), absent(deleted))
      await assert.rejects(postEventsNow(database, 'sesn_none', [message()]), absent('sesn_none'))
      const foreign = database.write((tx) =>
        postEvents(tx, 'wrkspc_other', session, [message()], 0),
      )
      await assert.rejects(foreign, absent(session))
    })

    it('notifies after the commit: readers, runners, and the turn to stop', async () => {
      await using opened = await open()
      const { database, bus } = opened
      const session = await newSession(database)
      const call = custom()
      await keepEvents(database, session, [call])
      const heard: BusMessage[] = []
      bus.subscribe(`session:${session}`, (word) => heard.push(word))
      bus.live.subscribe(`session:${session}`, (words) => heard.push(words))
      bus.subscribe('work', (word) => heard.push(word))
      const events = [answer(call.id), message(), interrupt]
      const post = (posting: ClientEvent[]) =>
        database.write((tx) => postEvents(tx, tenant, session, posting, 0))
      const posted = await post(events)
      assert.deepEqual(heard, [
        { kind: 'queued', events: posted.filter(({ type }) => type === 'user.message') },
        { kind: 'interrupt' },
        { tenant, session },
        { kind: 'new_events', tenant },
      ])
      heard.length = 0
      await post([answer(call.id)])
      assert.deepEqual(heard, [])
    })
  })
}
