/** Live words of an event come before it, however late its reader is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { unitOn } from '../../ground/bus/fixture.ts'
import type { Database } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from './fixture.ts'
import type { TailItem } from './tail.ts'
import { tailLog } from './tail.ts'
import { announceChange, notifyReaders, sendFrames } from './topics.ts'

const framesOf = (id: string): LiveFrame[] => [
  { kind: 'start', of: 'agent.message', id },
  { kind: 'chunk', of: 'agent.message', id, delta: 'text' },
  { kind: 'end', of: 'agent.message', id },
]

const shown = (each: TailItem): string => {
  if (each.kind === 'frame') return `${each.frame.kind} ${each.frame.id}`
  if (each.kind === 'kept') return `kept ${each.row.id}`
  if (each.kind === 'output') return `output ${each.output.call}`
  if (each.kind === 'waiting') return `waiting ${each.waiting?.type}`
  return each.kind === 'queued' ? `queued ${each.event.id}` : `promoted ${each.id}`
}

/** A reader of a new session, with extensions, from the beginning. */
async function newTail({ database }: { database: Database }) {
  const session = await insertHead(database)
  const bus = memoryBus()
  const tailed = tailLog({ read: database.read, bus }, tenant, session, {
    after: 0,
    extensions: true,
    signal: new AbortController().signal,
    dialect: 'interface',
  })
  return { database, session, bus, tailed }
}

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`the order of a tail on ${dialect}`, () => {
    // verifies: stream/event-deltas/order
    it('has words that wait before the event that they lead to', async () => {
      await using opened = await open()
      const { database, session, bus, tailed } = await newTail(opened)
      const words: LiveFrame[] = [...framesOf('one'), ...framesOf('two')]
      notifyReaders(unitOn(bus), session, { kind: 'promoted', ids: ['one', 'three'] })
      sendFrames(bus, session, words)
      // The reader has not started: it reads both rows for its own first notification.
      await keepEvents(database, session, [{ ...agentMessage('1'), id: 'one' }])
      announceChange(unitOn(bus), tenant, session)
      await keepEvents(database, session, [{ ...agentMessage('2'), id: 'two' }])
      announceChange(unitOn(bus), tenant, session)
      const seen: string[] = []
      while (seen.at(-1) !== 'promoted three') {
        const { value, done } = await tailed.next()
        assert.ok(!done)
        seen.push(shown(value))
      }
      assert.deepEqual(seen, [
        ...['promoted one', 'start one', 'chunk one', 'end one', 'kept one'],
        ...['start two', 'chunk two', 'end two', 'kept two', 'promoted three'],
      ])
      assert.deepEqual(words, [...framesOf('one'), ...framesOf('two')])
      await tailed.return(undefined)
    })

    // verifies: events/ext/prefix
    it('shows no piece behind a gap, though the event is read for an earlier notification', async () => {
      await using opened = await open()
      const { database, session, bus, tailed } = await newTail(opened)
      const [start, chunk, end] = framesOf('one')
      assert.ok(start && chunk && end)
      sendFrames(bus, session, [start, chunk])
      bus.miss()
      notifyReaders(unitOn(bus), session, { kind: 'promoted', ids: ['one'] })
      sendFrames(bus, session, [{ ...start, id: 'two' }, chunk, end])
      await keepEvents(database, session, [{ ...agentMessage('1'), id: 'one' }])
      announceChange(unitOn(bus), tenant, session)
      const seen: string[] = []
      while (seen.at(-1) !== 'start two') {
        const { value, done } = await tailed.next()
        assert.ok(!done)
        seen.push(shown(value))
      }
      assert.deepEqual(seen, ['start one', 'chunk one', 'promoted one', 'kept one', 'start two'])
      await tailed.return(undefined)
    })

    // verifies: events/ext/model-first-token
    it('has the start of a request before its first words, whichever of both is heard first', async () => {
      await using opened = await open()
      const { database, session, bus, tailed } = await newTail(opened)
      const next = async () => {
        const { value, done } = await tailed.next()
        assert.ok(!done)
        return shown(value)
      }
      const keepStart = (id: string) =>
        keepEvents(database, session, [{ id, type: 'span.model_request_start' }])
      const begin = (id: string, answer: string) => {
        const [start] = framesOf(answer)
        assert.ok(start)
        const frames: LiveFrame[] = [{ kind: 'first_token', id, ms: 5 }, start]
        sendFrames(bus, session, frames)
      }
      await keepStart('one')
      // The reader has not started: it reads the row for its own first notification.
      begin('one', 'a')
      const first = [await next(), await next(), await next()]
      assert.deepEqual(first, ['kept one', 'first_token one', 'start a'])
      await keepStart('two')
      // The words of another process may come before its notification.
      begin('two', 'b')
      const second = [await next(), await next(), await next()]
      assert.deepEqual(second, ['kept two', 'first_token two', 'start b'])
      begin('none', 'c')
      assert.equal(await next(), 'start c')
      await tailed.return(undefined)
    })

    it('omits that a message waits when that comes behind its admission', async () => {
      await using opened = await open()
      const { database, session, bus, tailed } = await newTail(opened)
      const message = (id: string): NewEvent => ({ id, type: 'user.message', content: [] })
      const queued = (...ids: string[]) =>
        notifyReaders(unitOn(bus), session, {
          kind: 'queued',
          events: ids.map((id) => ({
            ...{ id, type: 'user.message', seq: null, created_at: '', processed_at: null },
            data: '{}',
          })),
        })
      queued('one')
      await keepEvents(database, session, [message('one')])
      announceChange(unitOn(bus), tenant, session)
      const seen: string[] = []
      const next = async () => {
        const { value, done } = await tailed.next()
        assert.ok(!done)
        seen.push(shown(value))
      }
      await next()
      await next()
      notifyReaders(unitOn(bus), session, { kind: 'promoted', ids: ['two'] })
      queued('one')
      queued('two', 'three', 'one')
      await next()
      await next()
      assert.deepEqual(seen, ['queued one', 'kept one', 'promoted two', 'queued three'])
      await tailed.return(undefined)
    })
  })
}
