import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { unitOn } from '../../ground/bus/fixture.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from './fixture.ts'
import type { StoredEvent } from './log.ts'
import type { TailItem } from './tail.ts'
import { tailLog } from './tail.ts'
import { announceChange, notifyInterrupt, notifyReaders, sendFrames } from './topics.ts'

/** A bus that counts who listens. */
function counted() {
  const bus = memoryBus()
  let listening = 0
  const counting: Bus = {
    ...bus,
    subscribe(topic, hear) {
      listening++
      let on = true
      const quiet = bus.subscribe(topic, hear)
      return () => {
        if (on) listening--
        on = false
        quiet()
      }
    },
  }
  return { bus: counting, listening: () => listening }
}

type ReaderOptions = { after?: number; extensions?: boolean; signal?: AbortSignal }

function following(database: Database, bus: Bus, session: string, options: ReaderOptions = {}) {
  const ended = new AbortController()
  const { after = 0, extensions = false, signal = ended.signal } = options
  const source = { read: database.read, bus }
  return tailLog(source, tenant, session, { after, extensions, dialect: 'interface', signal })
}

async function some(tailed: AsyncGenerator<TailItem>, many: number): Promise<TailItem[]> {
  const got: TailItem[] = []
  while (got.length < many) {
    const { value, done } = await tailed.next()
    if (done) break
    got.push(value)
  }
  return got
}

const seqs = (all: TailItem[]) => all.flatMap((one) => (one.kind === 'kept' ? [one.row.seq] : []))
const upTo = (many: number) => Array.from({ length: many }, (_, index) => index + 1)

const keepAndNotify = async (database: Database, bus: Bus, session: string, events: NewEvent[]) => {
  await keepEvents(database, session, events)
  announceChange(unitOn(bus), tenant, session)
}

const start = (id: string): LiveFrame => ({ kind: 'start', of: 'agent.message', id })
const chunk = (id: string, delta: string): LiveFrame => ({
  kind: 'chunk',
  of: 'agent.message',
  id,
  delta,
})
const end = (id: string): LiveFrame => ({ kind: 'end', of: 'agent.message', id })
const isEnd = (each: TailItem | undefined, id: string) =>
  each?.kind === 'frame' && each.frame.kind === 'end' && each.frame.id === id
const message = (id: string, text: string): NewEvent => ({ ...agentMessage(text), id })

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a tail on ${dialect}`, () => {
    it('lets the process do other things after each piece, however many read a long log at once', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const many = 300
      await keepEvents(
        database,
        session,
        Array.from({ length: many }, () => agentMessage('x'.repeat(8 * 1024))),
      )
      const bus = memoryBus()
      let sinceTurn = 0
      let most = 0
      let isReading = true
      const turns = () => {
        most = Math.max(most, sinceTurn)
        sinceTurn = 0
        if (isReading) setImmediate(turns)
      }
      setImmediate(turns)
      const readers = Array.from({ length: 10 }, async () => {
        const tailed = following(database, bus, session)
        for (let n = 0; n < many; n++) {
          await tailed.next()
          sinceTurn++
        }
        await tailed.return(undefined)
      })
      await Promise.all(readers)
      isReading = false
      // The first pieces of all are read as they come; from then on one reader reads at a time.
      assert.ok(most <= 10 * 17 + 17, `${most} events without a break`)
      assert.ok(most > 0)
    })

    it('looks when it learns that notifications were lost, and then shows whole frames alone', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      const tailed = following(database, bus, session)
      sendFrames(bus, session, [start('a'), chunk('a', '1')])
      assert.equal((await some(tailed, 2)).length, 2)
      await keepEvents(database, session, [agentMessage('unheard')])
      bus.miss()
      // Pieces in between may be missing.
      sendFrames(bus, session, [chunk('a', '3'), end('a')])
      sendFrames(bus, session, [start('b'), chunk('b', '1')])
      const got = await some(tailed, 4)
      assert.deepEqual(seqs(got), [1])
      assert.deepEqual(
        got.flatMap((each) =>
          each.kind === 'frame' ? [`${each.frame.kind} ${each.frame.id}`] : [],
        ),
        ['end a', 'start b', 'chunk b'],
      )
      await tailed.return(undefined)
    })

    it('gives the past, then the present, in one order', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      await keepEvents(
        database,
        session,
        Array.from({ length: 450 }, () => agentMessage('past')),
      )
      const tailed = following(database, bus, session)
      const past = await some(tailed, 450)
      await keepAndNotify(database, bus, session, [agentMessage('now'), agentMessage('now')])
      const now = await some(tailed, 2)
      assert.deepEqual(seqs([...past, ...now]), upTo(452))
      await tailed.return(undefined)
    })

    it('begins behind a position, and hears what comes between its making and its reading', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      await keepEvents(database, session, [agentMessage('1'), agentMessage('2')])
      const tailed = following(database, bus, session, { after: 1 })
      await keepAndNotify(database, bus, session, [agentMessage('3')])
      sendFrames(bus, session, [start('sevt_4')])
      const got = await some(tailed, 3)
      assert.deepEqual(seqs(got), [2, 3])
      assert.equal(got[2]?.kind, 'frame')
      await tailed.return(undefined)
    })

    it('loses nothing and repeats nothing between racing writers and a slow reader', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      const tailed = following(database, bus, session)
      const writers = [1, 2, 3].map(async (writer) => {
        for (let n = 0; n < 60; n++) {
          const messages = [agentMessage(`${writer}`), agentMessage(`${writer}`)]
          await keepAndNotify(database, bus, session, messages)
        }
      })
      const got: TailItem[] = []
      while (got.length < 350) {
        got.push(...(await some(tailed, 7)))
        await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.all(writers)
      got.push(...(await some(tailed, 360 - got.length)))
      assert.deepEqual(seqs(got), upTo(360))
      await tailed.return(undefined)
    })

    it('omits extension events unless they are asked for', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      const warning = { id: 'sevt_w', type: 'session.warning', reason: 'r', message: 'm' } as const
      await keepEvents(database, session, [agentMessage('1'), warning, agentMessage('3')])
      const [plain, all] = [
        following(database, bus, session),
        following(database, bus, session, { extensions: true }),
      ]
      assert.deepEqual(seqs(await some(plain, 2)), [1, 3])
      assert.deepEqual(seqs(await some(all, 3)), [1, 2, 3])
      await plain.return(undefined)
      await all.return(undefined)
    })

    it('hears one session of one tenant', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const [session, other] = [await insertHead(database), await insertHead(database)]
      const tailed = following(database, bus, session)
      await keepAndNotify(database, bus, other, [agentMessage('theirs')])
      await keepAndNotify(database, bus, session, [agentMessage('mine')])
      const [got] = await some(tailed, 1)
      assert.ok(got?.kind === 'kept' && got.row.data.includes('mine'))
      await tailed.return(undefined)
    })
  })
}

describe('a tail', () => {
  const open = databases.sqlite

  it('gives frames in their order among the kept events', async () => {
    await using opened = await open()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    const tailed = following(database, bus, session)
    await keepAndNotify(database, bus, session, [agentMessage('before')])
    assert.deepEqual(seqs(await some(tailed, 1)), [1])
    sendFrames(bus, session, [start('a'), chunk('a', 'x'), end('a')])
    await keepAndNotify(database, bus, session, [message('a', 'x')])
    notifyReaders(unitOn(bus), session, { kind: 'queued', events: [] })
    notifyInterrupt(unitOn(bus), session)
    notifyReaders(unitOn(bus), session, { kind: 'promoted', ids: ['m1', 'm2'] })
    const got = await some(tailed, 6)
    assert.deepEqual(
      got.map((each) => (each.kind === 'frame' ? each.frame.kind : each.kind)),
      ['start', 'chunk', 'end', 'kept', 'promoted', 'promoted'],
    )
    await tailed.return(undefined)
  })

  it('sheds frames for a reader that is slow, and keeps prefixes only', async () => {
    await using opened = await open()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    await keepEvents(database, session, [agentMessage('first')])
    const tailed = following(database, bus, session)
    await some(tailed, 1)
    const got: TailItem[] = []
    const reading = (async () => {
      for await (const each of tailed) if (got.push(each) && each.kind === 'kept') return
    })()
    // Two blocks in turn, in bursts beyond what waits for a reader.
    const texts = new Map([
      ['a', ''],
      ['b', ''],
    ])
    sendFrames(bus, session, [start('a'), start('b')])
    for (let n = 0; n < 4600; n++) {
      const id = n % 3 === 0 ? 'a' : 'b'
      texts.set(id, `${texts.get(id)}${n},`)
      sendFrames(bus, session, [chunk(id, `${n},`)])
      if (n % 1500 === 99) await new Promise((resolve) => setImmediate(resolve))
    }
    sendFrames(bus, session, [end('a'), end('b')])
    await keepAndNotify(database, bus, session, [agentMessage('last')])
    await reading
    for (const [id, text] of texts) {
      const shown = got.flatMap((each) =>
        each.kind === 'frame' && each.frame.kind === 'chunk' && each.frame.id === id
          ? [each.frame.delta]
          : [],
      )
      assert.ok(shown.length > 30, `${shown.length} pieces of ${id}`)
      assert.ok(shown.join('').length < text.length)
      assert.ok(text.startsWith(shown.join('')))
    }
  })

  it('shows the blocks that begin after it had shed some', async () => {
    await using opened = await open()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    const tailed = following(database, bus, session)
    sendFrames(bus, session, [start('a')])
    const shown = await some(tailed, 1)
    for (let n = 0; n < 1500; n++) sendFrames(bus, session, [chunk('a', 'x')])
    announceChange(unitOn(bus), tenant, session)
    await keepAndNotify(database, bus, session, [agentMessage('x')])
    shown.push(...(await some(tailed, 1)))
    sendFrames(bus, session, [end('a'), start('c'), chunk('c', 'z'), end('c')])
    while (shown.length < 2000 && !isEnd(shown.at(-1), 'c')) shown.push(...(await some(tailed, 1)))
    const last = shown.slice(-3)
    assert.deepEqual(
      last.map((each) => each.kind === 'frame' && [each.frame.kind, each.frame.id]),
      [
        ['start', 'c'],
        ['chunk', 'c'],
        ['end', 'c'],
      ],
    )
    await tailed.return(undefined)
  })

  it('holds no more than a mebibyte of words for a reader that has stopped', async () => {
    await using opened = await databases.sqlite()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    const tailed = following(database, bus, session)
    const text = 'x'.repeat(300_000)
    const event = (id: string): StoredEvent => ({
      ...{ id, type: 'user.message', seq: null, created_at: '', processed_at: null },
      data: JSON.stringify({ content: [{ type: 'text', text }] }),
    })
    for (let n = 0; n < 10; n++)
      notifyReaders(unitOn(bus), session, { kind: 'queued', events: [event(`sevt_${n}`)] })
    await keepAndNotify(database, bus, session, [agentMessage('kept')])
    const got = await some(tailed, 4)
    assert.deepEqual(
      got.map((each) => (each.kind === 'queued' ? each.event.id : each.kind)),
      ['kept', 'sevt_0', 'sevt_1', 'sevt_2'],
    )
    await tailed.return(undefined)
  })

  it('notifies a reader for whom everything else was shed', async () => {
    await using opened = await open()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    const tailed = following(database, bus, session)
    for (let n = 0; n < 1500; n++)
      notifyReaders(unitOn(bus), session, { kind: 'promoted', ids: [`m${n}`] })
    await keepAndNotify(database, bus, session, [agentMessage('kept')])
    let got = await some(tailed, 1)
    while (got.every((each) => each.kind !== 'kept')) got = await some(tailed, 1)
    assert.deepEqual(seqs(got), [1])
    await tailed.return(undefined)
  })

  it('ends when it is aborted, whether it waits, reads, or was never begun', async () => {
    await using opened = await open()
    const { database } = opened
    const { bus, listening } = counted()
    const session = await insertHead(database)
    await keepEvents(
      database,
      session,
      Array.from({ length: 300 }, () => agentMessage('x')),
    )

    const waits = new AbortController()
    const waiting = following(database, bus, session, { after: 300, signal: waits.signal })
    const next = waiting.next()
    await new Promise((resolve) => setImmediate(resolve))
    waits.abort()
    assert.equal((await next).done, true)

    const reads = new AbortController()
    const reading = following(database, bus, session, { signal: reads.signal })
    await some(reading, 5)
    reads.abort()
    assert.ok((await some(reading, 300)).length < 200)

    const aborted = AbortSignal.abort()
    const never = following(database, bus, session, { signal: aborted })
    assert.equal((await never.next()).done, true)
    assert.equal(listening(), 0)
  })

  it('keeps no subscription when it is returned, even before it was begun', async () => {
    await using opened = await open()
    const { database } = opened
    const { bus, listening } = counted()
    const session = await insertHead(database)
    await keepEvents(database, session, [agentMessage('x')])
    const begun = following(database, bus, session)
    await some(begun, 1)
    assert.equal(listening(), 1)
    await begun.return(undefined)
    assert.equal(listening(), 0)
    const unbegun = following(database, bus, session)
    assert.equal(listening(), 1)
    await unbegun.return(undefined)
    assert.equal(listening(), 0)
    assert.equal((await unbegun.next()).done, true)
  })
})
