import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { WaitType } from '@steward/protocol/waiting-on.ts'
import { waitKinds } from '@steward/protocol/waiting-on.ts'
import { newId, primaryThreadId } from '../../ground/core/text/ids.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { appendEntries } from '../log/append.ts'
import { keepEvents, tenant } from '../log/fixture.ts'
import type { LogEntry } from '../log/log.ts'
import { threadStore } from '../log/threads/store.ts'
import { workRef } from '../work/queue-fixture.ts'
import { sessionStore } from './sessions.ts'
import { wakeupStore } from './wakeups.ts'
import { waitStore } from './waits.ts'

const ofWorker = (): NewEvent => ({
  id: newId('event'),
  type: 'agent.tool_use',
  name: 'bash',
  input: { command: 'ls' },
  evaluated_permission: 'allow',
  executed_by: 'worker',
})
const failed = (type: 'model_rate_limited_error' | 'model_overloaded_error'): NewEvent[] => [
  {
    id: newId('event'),
    type: 'session.error',
    error: { type, message: 'busy \u0001 "now"', retry_status: { type: 'retrying' } },
  },
  { id: newId('event'), type: 'session.status_rescheduled' },
]

for (const [kind, open] of Object.entries(everyShape)) {
  const setup = async () => {
    const work = await workRef(open)
    const { database, session } = work
    return {
      ...work,
      keep: (...events: NewEvent[]) => keepEvents(database, session, events, work.now()),
      head: (set: Partial<Tables['session_heads']>) =>
        database.write((tx) =>
          tx.updateTable('session_heads').set(set).where('session_id', '=', session).execute(),
        ),
      keepIn: (thread: string | undefined, entry: LogEntry) =>
        database.write((tx) =>
          appendEntries(
            tx,
            tenant,
            session,
            [{ ...entry, event: { ...entry.event, id: newId('event') }, thread }],
            { now: work.now() },
          ),
        ),
      thread: (id: string, status: Tables['threads']['status']) =>
        database.write((tx) =>
          threadStore(tx).insert(
            {
              ...{ tenant_id: tenant, session_id: session, id, status },
              ...{ name: id, agent: '', url_servers: 0 },
              kind: id === primaryThreadId(session) ? 'primary' : 'agent',
            },
            work.now(),
          ),
        ),
      setThread: (id: string, status: Tables['threads']['status']) =>
        database.write((tx) =>
          tx.updateTable('threads').set({ status }).where('id', '=', id).execute(),
        ),
      async wait() {
        const one = { id: session, archived_at: null, updated_at: iso(1) }
        const all = await waitStore(database.read).ofSessions(tenant, [one], work.now())
        return all.get(session)
      },
      /** The types of wait by which the list finds the session. */
      async found(): Promise<string[]> {
        const types = Object.keys(waitKinds) as WaitType[]
        const lists = types.map(async (type) => {
          const filter = { waits: [type], archived: false, made: [] }
          const paging = { limit: 5, order: 'desc' } as const
          const read = await sessionStore(database.read).list(tenant, paging, filter, work.now())
          return mapListing({ ...read }, ({ id }) => id).rows.length > 0 ? [type] : []
        })
        return (await Promise.all(lists)).flat()
      },
    }
  }

  describe(`the wait of a session, in ${kind}`, () => {
    // verifies: sessions/waiting-on
    it('is a free slot while no process has its work', async () => {
      await using here = await setup()
      await here.head({ due: 1, idle_since_ms: 7 })
      const wait = await here.wait()
      assert.deepEqual([wait?.type, wait?.since], ['queue', iso(7)])
      assert.deepEqual(await here.found(), ['queue'])
      await here.head({ owner: 'process', expires_at: here.now() + 1 })
      assert.equal(await here.wait(), null)
      here.pass(2)
      assert.equal((await here.wait())?.type, 'queue', 'the lease has run out')
    })

    // verifies: sessions/waiting-on
    it('is a worker until one claims it, and then the result of the call', async () => {
      await using here = await setup()
      await here.put()
      await here.keep(ofWorker())
      assert.equal((await here.wait())?.type, 'worker')
      assert.deepEqual(await here.found(), ['worker'])
      const item = await here.claim()
      assert.ok(item)
      await here.ack(item)
      const wait = await here.wait()
      assert.deepEqual([wait?.type, wait?.detail.tool], ['tool_result', 'bash'])
      assert.deepEqual(await here.found(), ['tool_result'])
    })

    // verifies: sessions/waiting-on
    it('is the pause before its model is asked again, with the last error', async () => {
      await using here = await setup()
      // The process that runs the session holds it during the pause.
      await here.head({ owner: 'process', expires_at: here.now() + 10 })
      await here.keep(...failed('model_overloaded_error'))
      const wait = await here.wait()
      assert.equal(wait?.type, 'model_backoff')
      assert.equal(wait.since, iso(here.now()))
      assert.ok(!('until' in wait), 'the error says no pause')
      assert.equal(wait.detail.message, 'busy \u0001 "now"')
      assert.deepEqual(await here.found(), ['model_backoff'])
      await here.keep(...failed('model_rate_limited_error'))
      assert.equal((await here.wait())?.type, 'rate_limit')
      assert.deepEqual(await here.found(), ['rate_limit'])
    })

    // verifies: sessions/waiting-on/threads
    it('includes for each thread that backs off its own error and its own time', async () => {
      await using here = await setup()
      await here.head({ owner: 'process', expires_at: here.now() + 10, threads: 3 })
      await here.thread('sthr_one', 'rescheduling')
      await here.thread('sthr_two', 'rescheduling')
      const [overloaded] = failed('model_overloaded_error')
      const [limited] = failed('model_rate_limited_error')
      assert.ok(overloaded && limited)
      await here.keepIn('sthr_one', { event: overloaded, retry_ms: 60_000 })
      here.pass(1_000)
      await here.keepIn('sthr_two', { event: limited, retry_ms: 5_000 })
      const limit = await here.wait()
      assert.deepEqual(
        [limit?.type, limit?.detail.session_thread_id, limit?.count],
        ['rate_limit', 'sthr_two', 2],
      )
      assert.equal(limit?.until, iso(here.now() + 5_000))
      assert.deepEqual(await here.found(), ['rate_limit', 'model_backoff'])
      await here.setThread('sthr_two', 'running')
      const backoff = await here.wait()
      assert.deepEqual(
        [backoff?.type, backoff?.detail.session_thread_id, backoff?.since, backoff?.until],
        ['model_backoff', 'sthr_one', iso(here.now() - 1_000), iso(here.now() + 59_000)],
      )
      await here.setThread('sthr_one', 'running')
      const primary = primaryThreadId(here.session)
      await here.thread(primary, 'rescheduling')
      await here.keepIn(undefined, { event: overloaded, retry_ms: 7_000 })
      await here.keepIn('sthr_one', { event: limited, retry_ms: 9_000 })
      const own = await here.wait()
      assert.deepEqual([own?.type, own?.until], ['model_backoff', iso(here.now() + 7_000)])
    })

    // verifies: sessions/waiting-on/true
    it('is what its process waits for, as long as that process has it', async () => {
      await using here = await setup()
      const row = { tenant_id: tenant, session_id: here.session, generation: 3 } as const
      const put = (type: 'sandbox' | 'packages', since_ms: number) =>
        here.database.write((tx) => waitStore(tx).put({ ...row, type, since_ms }))
      await put('sandbox', 5)
      await put('packages', 6)
      assert.equal(await here.wait(), null, 'no process has it')
      await here.head({ owner: 'process', generation: 3, expires_at: here.now() + 10 })
      const wait = await here.wait()
      assert.deepEqual([wait?.type, wait?.since, wait?.count], ['packages', iso(6), 2])
      assert.deepEqual(await here.found(), ['packages', 'sandbox'])
      await here.database.write((tx) => waitStore(tx).end({ ...row, type: 'packages' }))
      assert.equal((await here.wait())?.type, 'sandbox')
      await here.head({ generation: 4 })
      assert.equal(await here.wait(), null, 'another process has it')
    })

    // verifies: sessions/waiting-on
    it('is its next wakeup, with the time', async () => {
      await using here = await setup()
      await here.head({ idle_since_ms: 9 })
      const event_id = newId('event')
      const row = { tenant_id: tenant, session_id: here.session, event_id, note: '' }
      await here.database.write((tx) =>
        wakeupStore(tx).insert({ ...row, thread_id: 'sthr_child', due_ms: 60_000 }),
      )
      assert.deepEqual(await here.wait(), {
        type: 'wakeup',
        who: 'machine',
        text: 'sleeps until its next wakeup',
        since: iso(9),
        until: iso(60_000),
        count: 1,
        detail: { event_id, session_thread_id: 'sthr_child' },
      })
      assert.deepEqual(await here.found(), ['wakeup'])
    })

    it('is nothing in another workspace', async () => {
      await using here = await setup()
      await here.head({ due: 1 })
      const one = { id: here.session, archived_at: null, updated_at: iso(1) }
      const waiting = await waitStore(here.database.read).ofSessions('wrkspc_other', [one], 0)
      assert.equal(waiting.get(here.session), null)
    })
  })
}
