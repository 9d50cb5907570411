import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { RunTurn } from '@steward/harness/turn.ts'
import { newId, primaryThreadId } from '../../../ground/core/text/ids.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { claimHead } from '../../../ground/database/lease.ts'
import { shapesOf } from '../../../ground/database/shapes-fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { appendEntries } from '../../../sessions/log/append.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import { readHead } from '../../../sessions/log/head.ts'
import { toAdmission, admitEvents, takeWaiting, readWaiting } from '../../../sessions/log/inbox.ts'
import { makeDue } from '../../../sessions/log/threads/due.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import { wakeupStore } from '../../../sessions/rows/wakeups.ts'
import { deleteSession } from '../../../sessions/update.ts'
import { wakeupJob } from '../../../sessions/wakeup-job.ts'
import type { SessionLease } from '../steps.ts'
import { nextStep } from '../steps.ts'
import { createRunner } from '../runner.ts'
import type { TurnAssembly } from '../turn-deps.ts'
import { keepWithEffect } from './effects.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

const content = [{ type: 'text' as const, text: 'go' }]
const fresh = <E extends object>(event: E) => ({ ...event, id: newId('event') })

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

type TestTeam = { session: string; child: string }

/** A session with one child. `running`: threads that a dead process left in a turn. */
async function newTeam(
  database: Database,
  running: 'primary' | 'both' | 'none',
): Promise<TestTeam> {
  const session = await newSession(database)
  const child = newId('thread')
  const row = { tenant_id: tenant, session_id: session, agent: '', url_servers: 0 } as const
  const works = { status: 'running', due: 1, running_since_ms: 0 } as const
  await database.write(async (tx) => {
    const store = threadStore(tx)
    const primary = { id: primaryThreadId(session), kind: 'primary', name: 'boss' } as const
    await store.insert({ ...row, ...primary, ...(running !== 'none' && works) }, 0)
    const other = { id: child, kind: 'agent', name: 'worker' } as const
    await store.insert({ ...row, ...other, ...(running === 'both' && works) }, 0)
    const began = running === 'none' ? [] : [fresh({ type: 'session.status_running' as const })]
    await appendEntries(
      tx,
      tenant,
      session,
      began.map((event) => ({ event })),
      {
        now: 0,
        due: running !== 'none',
        dueThreads: [],
        set: { threads: 1 },
      },
    )
  })
  return { session, child }
}

async function firstStep(database: Database, session: string) {
  const { self: owner } = database.owners
  return database.write(async (tx) => {
    const fence = await claimHead(tx, session, { owner, dead: [], now: 5 })
    assert.ok(fence)
    const lease: SessionLease = { tenant, session, fence }
    return nextStep(tx, lease, { now: 5, claimed: true })
  })
}

const standing = async (database: Database, { session }: TestTeam, id: string) => {
  const row = await threadStore(database.read).find(tenant, session, id)
  assert.ok(row)
  return row
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename)))
  describe(`a session with several threads on ${name}`, () => {
    it('goes on with a thread that gets an interrupt and a message while nobody runs it', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const team = await newTeam(database, 'primary')
      const { session } = team
      const waits = [
        toAdmission(fresh({ type: 'user.interrupt' as const })),
        toAdmission(fresh({ type: 'user.message' as const, content })),
      ]
      await database.write((tx) => admitEvents(tx, tenant, session, waits, { now: 0, due: true }))
      assert.equal((await firstStep(database, session)).kind, 'turn')
      const { status, due, running_since_ms, active_ms } = await standing(
        database,
        team,
        primaryThreadId(session),
      )
      assert.deepEqual([status, due], ['running', 1])
      assert.notEqual(running_since_ms, null)
      assert.equal(Number(running_since_ms) + active_ms, 0)
    })

    // verifies: tools/schedule-wakeup/cancelled
    it('wakes a child later whose parent has no room for what the child would say', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const { session, child } = await newTeam(database, 'none')
      const told = {
        type: 'agent.thread_message_received' as const,
        from_session_thread_id: child,
        content,
      }
      const full = Array.from({ length: 100 }, () => toAdmission(fresh(told)))
      await database.write(async (tx) => {
        await admitEvents(tx, tenant, session, full, { now: 0, due: false })
        const of = { tenant_id: tenant, session_id: session, thread_id: child }
        await wakeupStore(tx).insert({ ...of, due_ms: 1, event_id: 'sevt_1', note: 'again' })
      })
      const clock = { ...systemClock, now: () => 1_000 }
      const one = testGround(database, { clock })
      const { signal } = new AbortController()
      const job = wakeupJob(one)
      assert.equal(await job.run(signal), true)
      const [row] = await wakeupStore(database.read).before(1_000_000, 10)
      assert.deepEqual([row?.due_ms, row?.event_id], [61_000, 'sevt_1'])
      await database.write((tx) => takeWaiting(tx, tenant, session, 1_000))
      const later = wakeupJob({ ...one, clock: { ...clock, now: () => 61_000 } })
      assert.equal(await later.run(signal), true)
      assert.deepEqual(await wakeupStore(database.read).before(1_000_000, 10), [])
      assert.equal((await readWaiting(database.read, tenant, session, child)).length, 1)
    })

    // verifies: threads/limits
    it('refuses a message beyond the hundred or the mebibyte that may wait for a thread', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const { session, child } = await newTeam(database, 'none')
      const { self: owner } = database.owners
      const fence = await database.write((tx) =>
        claimHead(tx, session, { owner, dead: [], now: 5 }),
      )
      assert.ok(fence)
      const told = { type: 'agent.tool_result' as const, tool_use_id: 'sevt_call', content }
      const roster = {
        mostWorking: 25,
        coordinator: 'boss',
        agentOf: () => ({ refused: 'nobody' }),
      }
      const send = async (message: string) => {
        const effect = { kind: 'send', thread: child, message } as const
        const step = { kept: [{ event: fresh(told) }], effect }
        const lease = { tenant, session, fence }
        const done = await database.write((tx) => keepWithEffect(tx, lease, step, { roster }, 5))
        return done && 'refused' in (done.reply ?? {}) ? JSON.stringify(done.reply) : ''
      }
      const waits = async () => (await readWaiting(database.read, tenant, session, child)).length
      const from = { from_session_thread_id: primaryThreadId(session), content }
      const words = () => toAdmission(fresh({ type: 'agent.thread_message_received', ...from }))
      await database.write((tx) =>
        admitEvents(tx, tenant, session, Array.from({ length: 99 }, words), {
          ...{ now: 0, due: true, thread: child },
        }),
      )
      assert.equal(await send('the hundredth'), '')
      assert.match(await send('one more'), /100 messages wait for worker already/)
      assert.equal(await waits(), 100)
      const { next_seq } = await readHead(database.read, tenant, session)
      assert.equal(next_seq, 2, 'what is refused has no result in the log')
      await database.write((tx) => takeWaiting(tx, tenant, session, 1_000, child))
      const long = 'x'.repeat(100_000)
      for (let n = 0; n < 10; n++) assert.equal(await send(long), '')
      assert.match(await send(long), /10 messages wait/)
      assert.equal(await send('short'), '')
    })

    it('is removed when it was deleted', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const { session } = await newTeam(database, 'none')
      await database.write((tx) => deleteSession(tx, tenant, session, 0))
      assert.deepEqual(await firstStep(database, session), { kind: 'deleted' })
    })
  })

describe('the threads of a session in one process', () => {
  const parts = {} as Extract<TurnAssembly, { ok: true }>['parts']
  const slots = () => createShare({ total: 10, percent: 80 })

  /** Runs the turns of all threads by `turn`, until the test is over. */
  function running(
    database: Database,
    turn: (thread: string, signal: AbortSignal) => ReturnType<RunTurn>,
    stopMs = 0,
  ) {
    const abandoned: string[] = []
    const work = createRunner({
      ...{ ...testGround(database), stopMs },
      ...{ clock: systemClock, log: jsonLog(() => {}, 'error') },
      ...{ slots: slots(), pauses: slots() },
      runTurn: ({ cacheKey, signal }) => turn(cacheKey, signal),
      assemble: async ({ thread }) => ({
        ok: true,
        model: { name: 'priced', price: null },
        parts: { ...parts, cacheKey: thread ?? 'primary' },
        ...{
          isElsewhere: false,
          rested: async () => {},
          release: () => {},
          readHistory: noneJoins,
        },
      }),
      abandon: async ({ session }) => void abandoned.push(session),
      remove: async () => {},
    })
    return { ...work, abandoned, [Symbol.asyncDispose]: () => work.stop() }
  }

  const aborted = (signal: AbortSignal) =>
    new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

  /** Waits like a call of wait_for_agents: the turn begins and appends nothing for as long as possible. */
  async function* waiting(signal: AbortSignal): ReturnType<RunTurn> {
    await aborted(signal)
    return { stop: { type: 'end_turn' }, last: [] }
  }

  it('end their turns when another process has the lease', async () => {
    await using testDatabase = await databases.sqlite()
    const { database } = testDatabase
    const { session } = await newTeam(database, 'primary')
    const begun = Promise.withResolvers<AbortSignal>()
    await using work = running(database, (_, signal) => {
      begun.resolve(signal)
      return waiting(signal)
    })
    await work.lookForWork()
    const signal = await begun.promise
    const now = Date.now()
    const taken = { owner: 'proc_other', generation: 99, expires_at: now + 600_000 }
    await database.write((tx) =>
      tx.updateTable('session_heads').set(taken).where('session_id', '=', session).execute(),
    )
    const left = aborted(signal)
    await work.lookForWork()
    await left
    await until(async () => work.running() === 0)
    assert.deepEqual(work.abandoned, [session])
    assert.equal((await readHead(database.read, tenant, session)).owner, 'proc_other')
  })

  it('begin a turn whose notification was lost while another thread waits', async () => {
    await using testDatabase = await databases.sqlite()
    const { database } = testDatabase
    const { session, child } = await newTeam(database, 'primary')
    const begun: string[] = []
    await using work = running(database, (thread, signal) => {
      begun.push(thread)
      return waiting(signal)
    })
    await work.lookForWork()
    await until(async () => begun.length === 1)
    const message = toAdmission(fresh({ type: 'user.message' as const, content }))
    await database.write(async (tx) => {
      await admitEvents(tx, tenant, session, [message], { now: 0, due: true, thread: child })
      await makeDue(tx, { tenant, session }, [child])
    })
    await work.lookForWork()
    await until(async () => begun.length === 2)
    assert.deepEqual(begun, ['primary', child])
  })

  it('end a turn that waits for others at once when the server stops', async () => {
    await using testDatabase = await databases.sqlite()
    const { database } = testDatabase
    const team = await newTeam(database, 'primary')
    const stopMs = 20_000
    const waits = Promise.withResolvers<void>()
    await using work = running(
      database,
      async function* (_, signal) {
        const call = { name: 'wait_for_agents', input: {} }
        yield { type: 'keep', kept: [{ event: fresh({ type: 'agent.tool_use', ...call }) }] }
        waits.resolve()
        yield* waiting(signal)
        return { stop: { type: 'end_turn' }, last: [] }
      },
      stopMs,
    )
    await work.lookForWork()
    await waits.promise
    const began = performance.now()
    await work.stop()
    assert.ok(performance.now() - began < stopMs / 2)
    const primary = await standing(database, team, primaryThreadId(team.session))
    assert.deepEqual([primary.status, primary.due], ['running', 1])
  })

  it('are continued when a write of one of them failed while another waits for it', async () => {
    await using testDatabase = await databases.sqlite()
    const { database } = testDatabase
    const team = await newTeam(database, 'both')
    let isFull = false
    const full: Database = {
      ...database,
      write: (unit) => (isFull ? Promise.reject(new Error('disk is full')) : database.write(unit)),
      writeStatement: (unit) => full.write(unit),
    }
    const begun: string[] = []
    const primaryWaits = Promise.withResolvers<void>()
    await using work = running(full, async function* (thread, signal) {
      begun.push(thread)
      const isFirst = begun.filter((each) => each === thread).length === 1
      if (thread === 'primary') {
        primaryWaits.resolve()
        if (isFirst) await aborted(signal)
      } else if (isFirst) {
        await primaryWaits.promise
        isFull = true
        const said = fresh({ type: 'agent.message' as const, content: [] })
        setImmediate(() => (isFull = false))
        yield { type: 'keep', kept: [{ event: said }] }
      }
      return { stop: { type: 'end_turn' }, last: [] }
    })
    await work.lookForWork()
    await until(async () => (await standing(database, team, team.child)).status === 'idle')
    await until(async () => work.running() === 0)
    const primary = await standing(database, team, primaryThreadId(team.session))
    assert.deepEqual([primary.status, primary.due], ['idle', 0])
    assert.equal(begun.filter((each) => each === team.child).length, 2)
  })
})
