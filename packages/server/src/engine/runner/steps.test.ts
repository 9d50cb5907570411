import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Notice } from '../../ground/core/notice.ts'
import type { Database } from '../../ground/database/database.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { claimHead } from '../../ground/database/lease.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { toAdmission, admitEvents, readWaiting } from '../../sessions/log/inbox.ts'
import { readEvents } from '../../sessions/log/log.ts'
import { newSession } from '../../sessions/fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { deleteSession } from '../../sessions/update.ts'
import { enqueueItem } from '../../sessions/work/queue.ts'
import { workStore } from '../../sessions/work/store.ts'
import { nextStep, settleDeleted } from './steps.ts'
import { withHeardNotices } from '../../ground/database/fixture.ts'

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'go' }] }
const interrupt = { type: 'user.interrupt' as const }

/** The ids of the messages of which readers hear that a turn has taken them. */
const promotedIn = (heard: readonly Notice[]): unknown[] =>
  heard.flatMap(({ message: { kind, ids } }) =>
    kind === 'promoted' && Array.isArray(ids) ? ids : [],
  )
const fresh = <E extends object>(event: E) => ({ ...event, id: newId('event') })

/** The process that loses the session. */
type From = 'the dead' | 'nobody'

/** The first step of a process that has claimed the session, and the log afterwards. */
async function claimed(database: Database, session: string, from: From = 'the dead', now = 0) {
  const owner = database.owners.self
  await database.write((tx) =>
    tx
      .updateTable('session_heads')
      .set({ owner: from === 'nobody' ? null : 'proc_dead', expires_at: -1 })
      .where('session_id', '=', session)
      .execute(),
  )
  const { fence, step } = await database.write(async (tx) => {
    const fence = await claimHead(tx, session, { owner, dead: [], now })
    assert.ok(fence)
    return {
      fence,
      step: await nextStep(tx, { tenant, session, fence }, { now, claimed: true }),
    }
  })
  const rows = await readEvents(database.read, tenant, session, { limit: 100, extensions: true })
  return {
    step,
    lease: { tenant, session, fence },
    events: rows.map(({ type }) => type),
    rows,
    head: await readHead(database.read, tenant, session),
  }
}

/** The events of a turn in the middle of a model request. */
const asking = (): NewEvent[] => [
  fresh({ type: 'session.status_run_started' as const, workspace_id: tenant }),
  fresh(message),
  fresh({ type: 'session.status_running' as const }),
  fresh({ type: 'span.model_request_start' as const }),
]

/** Goes on with the turn of a dead process, and dies during a model request, `times` over. */
async function dies(database: Database, session: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    assert.equal((await claimed(database, session)).step.kind, 'turn', `after ${n} deaths`)
    await keepEvents(database, session, [fresh({ type: 'span.model_request_start' as const })])
  }
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`the first step after a claim on ${name}`, () => {
    it('waits for its turn of the event loop before it reads a large inbox, and has written nothing before', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const text = 'x'.repeat(300_000)
      const large = fresh({ ...message, content: [{ type: 'text' as const, text }] })
      await database.write((tx) =>
        admitEvents(tx, tenant, session, [toAdmission(large)], { now: 0, due: true }),
      )
      const { step, lease, events, head } = await claimed(database, session, 'nobody')
      assert.equal(step.kind, 'heavy')
      assert.deepEqual([events, head.due], [[], 1])
      assert.equal((await readWaiting(database.read, tenant, session)).length, 1)
      const next = await database.write((tx) =>
        nextStep(tx, lease, { now: 0, claimed: true, mostBytes: Infinity }),
      )
      assert.equal(next.kind, 'turn')
      assert.deepEqual(await readWaiting(database.read, tenant, session), [])
    })

    it('begins the first turn of a session that was renamed before it', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database, 'running')
      await testDatabase.database.write((tx) =>
        admitEvents(tx, tenant, session, [toAdmission(fresh(message))], { now: 0, due: true }),
      )
      await keepEvents(testDatabase.database, session, [
        fresh({ type: 'session.updated' as const, title: 'x' }),
      ])
      const { step, events } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'turn')
      assert.ok(events.includes('user.message'))
      assert.ok(!events.includes('session.warning'))
    })

    it('ends a summary that a dead process was waiting for, and its request', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      const type = 'span.compaction_summarize_start' as const
      const summary = fresh({ type, strategy: 'summarize', reason: 'threshold' })
      await keepEvents(testDatabase.database, session, [...asking(), summary])
      const { step, rows } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'turn')
      const ends = rows.slice(-2).map(({ type, data }) => [type, JSON.parse(data).is_error])
      assert.deepEqual(ends, [
        ['span.compaction_summarize_end', true],
        ['span.model_request_end', true],
      ])
    })

    it('gives a turn up that ends its process again and again, but not one that comes on', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await keepEvents(database, session, asking())
      await dies(database, session, 5)
      await keepEvents(database, session, [fresh({ type: 'agent.message' as const, content: [] })])
      await dies(database, session, 5)
      const { step, events, head } = await claimed(database, session)
      assert.equal(step.kind, 'rest')
      assert.deepEqual(events.slice(-3), ['session.error', 'session.usage', 'session.status_idle'])
      assert.equal(head.status, 'idle')
    })

    // verifies: running/recovery/given-up
    it('gives no turn up that had begun nothing when its process died, unless it died 26 times', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await keepEvents(database, session, asking())
      for (let deaths = 0; deaths < 21; deaths++) {
        const { step } = await claimed(database, session)
        assert.ok(step.kind === 'turn', `after ${deaths} deaths`)
        // The first one was during a request.
        assert.equal(step.recovered?.isSuspect, deaths + 5 >= 10)
      }
      assert.equal((await claimed(database, session)).step.kind, 'rest')
    })

    // verifies: running/recovery/given-up
    it('goes on with what was posted behind a turn that it gives up, and rests after a second one', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await keepEvents(database, session, asking())
      await database.write((tx) => postEvents(tx, tenant, session, [message, message], 0))
      await dies(database, session, 5)
      const { database: listened, heard } = withHeardNotices(database)
      const { step, events, head } = await claimed(listened, session)
      assert.equal(step.kind, 'turn')
      assert.equal(promotedIn(heard).length, 2)
      assert.deepEqual(events.slice(-8), [
        'session.error',
        'session.usage',
        'session.status_idle',
        'session.status_run_started',
        'user.message',
        'user.message',
        'session.status_running',
        'span.model_request_start',
      ])
      assert.deepEqual([head.status, head.due], ['running', 1])
      await database.write((tx) => postEvents(tx, tenant, session, [message], 0))
      await dies(database, session, 5)
      const rests = await claimed(database, session)
      assert.deepEqual([rests.step.kind, rests.head.status, rests.head.due], ['rest', 'idle', 0])
      assert.equal(rests.head.owner, null)
      assert.equal(rests.head.stop_reason, '{"type":"retries_exhausted"}')
      const { error } = JSON.parse(
        rests.rows.findLast(({ type }) => type === 'session.error')?.data ?? '',
      )
      assert.match(error.message, /send a message to go on, with which those that wait are read/)
      assert.deepEqual(error.retry_status, { type: 'exhausted' })
      assert.equal((await readWaiting(database.read, tenant, session)).length, 1)
      await database.write((tx) => postEvents(tx, tenant, session, [message], 0))
      const later = withHeardNotices(database)
      const next = await claimed(later.database, session, 'nobody')
      assert.equal(next.step.kind, 'turn')
      assert.equal(promotedIn(later.heard).length, 2)
    })

    it('names the event to fork at, the last one that a model accepted, when it gives a turn up', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const start = fresh({ type: 'span.model_request_start' as const })
      const end = (is_error: boolean) =>
        fresh({
          ...{ type: 'span.model_request_end' as const, model_request_start_id: start.id },
          ...{ is_error, model_usage: noUsage },
        })
      await keepEvents(database, session, [start, end(false), start, end(true)].map(fresh))
      await keepEvents(database, session, asking())
      await dies(database, session, 5)
      const { rows } = await claimed(database, session)
      const { error } = JSON.parse(
        rows.findLast(({ type }) => type === 'session.error')?.data ?? '',
      )
      assert.match(error.message, /fork the session with `at_seq` 2 to go on without it$/)
    })

    it('withdraws the work item of a turn that it gives up', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const item = { tenant, environment: 'env_test', session }
      await keepEvents(database, session, asking())
      await database.write((tx) => enqueueItem(tx, item, { now: 0 }))
      await dies(database, session, 5)
      assert.ok(await workStore(database.read).live(tenant, session))
      assert.equal((await claimed(database, session)).step.kind, 'rest')
      assert.equal(await workStore(database.read).live(tenant, session), undefined)
    })

    it('continues to count deaths when an error is appended from outside', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      await keepEvents(database, session, asking())
      const error = {
        ...{ type: 'unknown_error' as const, message: 'no worker has taken this session' },
        retry_status: { type: 'retrying' as const },
      }
      for (let n = 0; n < 5; n++) {
        await dies(database, session, 1)
        await keepEvents(database, session, [fresh({ type: 'session.error' as const, error })])
      }
      const { step, head } = await claimed(database, session)
      assert.deepEqual([step.kind, head.status], ['rest', 'idle'])
    })

    it('does not change the inbox for a process that has lost the session', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const take = async () => {
        const lease = { owner: database.owners.self, dead: [], now: 0 }
        const fence = await database.write((tx) => claimHead(tx, session, lease))
        assert.ok(fence)
        return { tenant, session, fence }
      }
      const [stale, held] = [await take(), await take()]
      await database.write((tx) => postEvents(tx, tenant, session, [message], 0))
      const { database: listened, heard } = withHeardNotices(database)
      const next = (at: typeof stale) =>
        listened.write((tx) => nextStep(tx, at, { now: 0, claimed: false }))
      assert.deepEqual(await next(stale), { kind: 'lost' })
      const step = await next(held)
      assert.equal(step.kind, 'turn')
      assert.equal(promotedIn(heard).length, 1)
    })

    it('gives no turn up for warnings of other kinds', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await keepEvents(testDatabase.database, session, asking())
      const refused = {
        type: 'session.warning' as const,
        reason: 'egress_refused',
        message: '"reason":"turn_recovered"',
      }
      for (let n = 0; n < 8; n++) await keepEvents(testDatabase.database, session, [fresh(refused)])
      assert.equal((await claimed(testDatabase.database, session)).step.kind, 'turn')
    })

    it('gives no turn up that stopped processes released, however often', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await keepEvents(testDatabase.database, session, asking())
      for (let n = 0; n < 8; n++) {
        const { step } = await claimed(testDatabase.database, session, 'nobody')
        assert.equal(step.kind, 'turn', `after ${n} stops`)
        await keepEvents(testDatabase.database, session, [
          fresh({ type: 'span.model_request_start' as const }),
        ])
      }
      const { step, rows } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'turn', 'the first death')
      const reasons = rows
        .filter(({ type }) => type === 'session.warning')
        .map(({ data }) => JSON.parse(data).reason)
      assert.deepEqual(reasons, [...Array(8).fill('turn_handed_over'), 'turn_recovered'])
    })

    it('says nothing of a turn that was released between two of its steps', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await keepEvents(testDatabase.database, session, asking().slice(0, 3))
      const { step, events } = await claimed(testDatabase.database, session, 'nobody')
      assert.equal(step.kind, 'turn')
      assert.equal(events.length, 3)
    })

    // verifies: sessions/usage/cut-request
    it('counts a request that lost its process with the input of the one before, at its price', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await newSession(database)
      const usage = { input_tokens: 100, output_tokens: 50 }
      const model_usage = { ...noUsage, ...usage, cache_read_input_tokens: 7 }
      const model = { name: 'm', price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 4 } }
      const ended = fresh({
        ...{ type: 'span.model_request_end' as const, is_error: false, model_usage },
        model_request_start_id: 'sevt_1',
      })
      const kept = [...asking(), ended].map((event) => ({ event, model }))
      await database.write((tx) => appendEntries(tx, tenant, session, kept, { now: 0 }))
      const { list_cost: before } = await readHead(database.read, tenant, session)
      await dies(database, session, 2)
      const { head, rows } = await claimed(database, session)
      // Twice it died during a request.
      assert.deepEqual([head.input_tokens, head.output_tokens], [300, 50])
      assert.equal(head.cache_read_input_tokens, 21)
      assert.ok(head.list_cost > before && head.list_cost < 3 * before && head.unpriced === 0)
      const end = rows.findLast(({ type }) => type === 'span.model_request_end')
      assert.equal(JSON.parse(end?.data ?? '').model_usage.input_tokens, 100)
      const first = await newSession(database)
      await keepEvents(database, first, asking())
      assert.equal((await claimed(database, first)).head.input_tokens, 0)
    })

    it('ends the request that an interrupted turn of a dead process had begun, and says so', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await keepEvents(testDatabase.database, session, asking())
      await testDatabase.database.write((tx) => postEvents(tx, tenant, session, [interrupt], 0))
      const { step, events, head } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'rest')
      assert.deepEqual(events.slice(4), [
        'session.warning',
        'span.model_request_end',
        'user.interrupt',
        'session.usage',
        'session.status_idle',
      ])
      assert.equal(head.status, 'idle')
    })

    it('says that the interrupted turn of a dead process is over before the next begins', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await keepEvents(testDatabase.database, session, asking())
      await testDatabase.database.write((tx) =>
        postEvents(tx, tenant, session, [interrupt, message], 0),
      )
      const { step, events, head } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'turn')
      assert.deepEqual(events.slice(4, 10), [
        'session.warning',
        'span.model_request_end',
        'user.interrupt',
        'session.usage',
        'session.status_idle',
        'session.status_run_started',
      ])
      assert.equal(head.status, 'running')
    })

    it('runs again what a dead process was about to try again', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      const rescheduled = fresh({ type: 'session.status_rescheduled' as const })
      await keepEvents(testDatabase.database, session, [...asking().slice(0, 3), rescheduled])
      const { step, events, head } = await claimed(testDatabase.database, session)
      assert.equal(step.kind, 'turn')
      assert.deepEqual(events.slice(4), ['session.warning', 'session.status_running'])
      assert.equal(head.status, 'running')
    })

    it('keeps a deleted session due until nothing remains of it', async () => {
      await using testDatabase = await open()
      const session = await newSession(testDatabase.database)
      await testDatabase.database.write((tx) => deleteSession(tx, tenant, session, 0))
      const { step, lease: gone, head } = await claimed(testDatabase.database, session)
      assert.deepEqual([step.kind, head.due], ['deleted', 1])
      await testDatabase.database.write((tx) => settleDeleted(tx, gone, 0))
      const after = await readHead(testDatabase.database.read, tenant, session)
      assert.deepEqual([after.due, after.owner], [0, null])
    })
  })
}
