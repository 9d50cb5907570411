import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../ground/core/text/ids.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import {
  answer,
  askedCall,
  confirm,
  custom,
  message,
  needsAction,
  postEventsNow,
  ranCall,
  isRefusedWith,
  readState,
  system,
  text,
} from './fixture.ts'

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`an answer to a call, on ${dialect}`, () => {
    it('is kept at once when it answers a call, and echoed as it is kept', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, other] = [custom(), askedCall()]
      await keepEvents(database, session, [mine, other, needsAction(mine.id, other.id)])
      const posted = await postEventsNow(database, session, [
        answer(mine.id),
        confirm(other.id, 'deny'),
      ])
      assert.deepEqual(posted.queued, [])
      assert.ok(posted.appended && posted.due)
      const { log, calls, head } = await readState(database, session)
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
      const [mine, other] = [custom(), askedCall()]
      await keepEvents(database, session, [mine, other, needsAction(mine.id, other.id)])
      const events = [confirm(other.id), answer(mine.id), system()]
      await postEventsNow(database, session, events)
      const before = await readState(database, session)
      const again = await postEventsNow(database, session, events)
      assert.deepEqual(again.echoes, before.log.slice(-3))
      assert.ok(!again.appended && !again.due)
      const late = await postEventsNow(database, session, [confirm(other.id, 'deny')])
      assert.deepEqual(late.echoes, again.echoes.slice(0, 1))
      assert.deepEqual(await readState(database, session), before)
    })

    it('is refused when it says another result than the client has given, and taken when the same', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, next] = [custom(), custom()]
      await keepEvents(database, session, [mine, next, needsAction(mine.id, next.id)])
      await postEventsNow(database, session, [answer(mine.id)])
      const before = await readState(database, session)
      const given = answer(mine.id)
      const others = [
        { ...given, content: text('something else') },
        { ...given, is_error: true },
        { ...given, content: [] },
      ]
      const pattern = /^events\.0\.custom_tool_use_id: the call has a different result/
      for (const other of others)
        await assert.rejects(postEventsNow(database, session, [other]), isRefusedWith(pattern))
      const twice = [answer(next.id), { ...answer(next.id), is_error: true }]
      await assert.rejects(
        postEventsNow(database, session, twice),
        isRefusedWith(/^events\.1: .*different result/),
      )
      const same = await postEventsNow(database, session, [{ ...given, is_error: false }])
      assert.deepEqual(same.echoes, before.log.slice(-1))
      assert.deepEqual(await readState(database, session), before)
    })

    // verifies: events/post/late-confirmation
    it('is shown what closed the call when a result comes too late, and refused when a confirmation does', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [mine, other] = [custom(), askedCall()]
      const content = text('interrupted')
      await keepEvents(database, session, [
        mine,
        other,
        { id: newId('event'), type: 'agent.tool_result', tool_use_id: other.id, content },
        {
          id: newId('event'),
          type: 'user.custom_tool_result',
          custom_tool_use_id: mine.id,
          content: text(`{"tool_use_id":"${other.id}"}`),
          closed_by: 'service',
        },
      ])
      const before = await readState(database, session)
      const posted = await postEventsNow(database, session, [answer(mine.id)])
      assert.deepEqual(posted.echoes, before.log.slice(-1))
      for (const result of ['allow', 'deny'] as const)
        await assert.rejects(
          postEventsNow(database, session, [confirm(other.id, result)]),
          isRefusedWith(/^events\.0\.tool_use_id: .* was closed before it was confirmed/),
        )
      assert.deepEqual(await readState(database, session), before)
    })

    it('is refused when it answers a call that asks nobody', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [started, done] = [ranCall(), ranCall()]
      await keepEvents(database, session, [
        started,
        done,
        { id: newId('event'), type: 'agent.tool_result', tool_use_id: done.id, content: [] },
      ])
      const before = await readState(database, session)
      for (const { id } of [started, done]) {
        for (const event of [confirm(id), confirm(id, 'deny'), answer(id)]) {
          const pattern = /^events\.1\.(custom_)?tool_use_id: call sevt_\w+ asks nobody/
          await assert.rejects(
            postEventsNow(database, session, [message(), event]),
            isRefusedWith(pattern),
          )
        }
      }
      assert.deepEqual(await readState(database, session), before)
    })

    it('is refused behind a result that was given before without it', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keepEvents(database, session, [call])
      await postEventsNow(database, session, [answer(call.id)])
      const before = await readState(database, session)
      await assert.rejects(
        postEventsNow(database, session, [answer(call.id), system()]),
        isRefusedWith(/^events\.1: follows a result that was posted earlier/),
      )
      assert.deepEqual(await readState(database, session), before)
    })

    it('answers a call once, also when one request says it twice', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const call = custom()
      await keepEvents(database, session, [call])
      const { echoes } = await postEventsNow(database, session, [answer(call.id), answer(call.id)])
      const { log } = await readState(database, session)
      assert.equal(log.length, 2)
      const [row] = log.slice(-1).map((each) => ({ ...each }))
      assert.deepEqual(echoes, [row, row])
    })
  })
}
