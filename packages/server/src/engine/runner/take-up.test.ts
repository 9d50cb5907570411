import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { newSession } from '../../sessions/fixture.ts'
import { keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { readEvents } from '../../sessions/log/log.ts'
import { listenToSession } from '../../sessions/log/topics.ts'
import { drainSession } from './drain.ts'
import { recoveryLane } from './recovery-lane.ts'
import type { DrainDeps } from './turn-deps.ts'
import { testGround } from '../../ground/ground-fixture.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

type Meanwhile = (world: {
  database: Database
  session: string
  abort: () => void
}) => Promise<unknown>

/** A drain of a session that a dead process left for the second time. `meanwhile` is called while it waits. */
async function takenUp(database: Database, meanwhile: Meanwhile) {
  const clock = movedClock()
  const session = await newSession(database)
  await keepEvents(database, session, [
    { id: newId('event'), type: 'session.status_run_started', workspace_id: tenant },
    { id: newId('event'), type: 'session.status_running' },
    { id: newId('event'), type: 'span.model_request_start' },
  ])
  const head = (set: Record<string, unknown>) =>
    database.write((tx) =>
      tx.updateTable('session_heads').set(set).where('session_id', '=', session).execute(),
    )
  await head({ owner: 'proc_dead', expires_at: -1, recoveries: 5 })
  let turns = 0
  let told = 0
  let abort = () => {}
  const bus = memoryBus()
  listenToSession(bus, session, () => told++)
  const deps: DrainDeps = {
    ...testGround(database, { bus, clock }),
    ...{ database, running: () => 1 },
    recoveries: recoveryLane(clock),
    async *runTurn() {
      turns++
      return { stop: { type: 'end_turn' }, last: [] }
    },
    assemble: async () => ({
      ...{ ok: true, isElsewhere: false, model: { name: 'priced', price: null } },
      parts: {} as never,
      rested: async () => {},
      release: () => {},
      readHistory: noneJoins,
    }),
    abandon: async () => {},
    remove: async () => {},
  }
  const never = new AbortController().signal
  const done = drainSession(
    deps,
    { tenant, session },
    {
      ...{ stopping: never, cut: never, wake: () => {} },
      interrupt: (call) => (abort = call),
      takeNews: () => false,
      slot: { leave: () => {}, hold: async () => {}, pause: async () => {} },
    },
    [],
  )
  while (clock.sleeping() === 0) await new Promise(setImmediate)
  const toldBefore = told
  await meanwhile({ database, session, abort: () => abort() })
  await clock.pass(2_000)
  const outcome = await done
  const events = await readEvents(database.read, tenant, session, { limit: 100, extensions: true })
  return {
    outcome,
    turns,
    toldBefore,
    events,
    head: await readHead(database.read, tenant, session),
  }
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  // verifies: running/recovery/one-at-a-time
  describe(`a turn that waits because its process died twice, on ${name}`, () => {
    it('goes on, and readers know of the recovery before that', async () => {
      await using testDatabase = await open()
      const { outcome, turns, toldBefore, head } = await takenUp(
        testDatabase.database,
        async () => {},
      )
      assert.deepEqual([outcome, turns, head.status], ['rested', 1, 'idle'])
      assert.ok(toldBefore > 0)
    })

    it('ends without going on when it is interrupted', async () => {
      await using testDatabase = await open()
      const { turns, head, events } = await takenUp(
        testDatabase.database,
        async ({ database, session, abort }) => {
          const interrupt = { type: 'user.interrupt' as const }
          await database.write((tx) => postEvents(tx, tenant, session, [interrupt], 0))
          abort()
        },
      )
      assert.deepEqual([turns, head.status, head.due], [0, 'idle', 0])
      assert.equal(events.at(-1)?.type, 'session.status_idle')
    })

    it('does nothing when another process has taken the session over', async () => {
      await using testDatabase = await open()
      const { outcome, turns, head } = await takenUp(
        testDatabase.database,
        ({ database, session }) =>
          database.write((tx) =>
            tx
              .updateTable('session_heads')
              .set((eb) => ({ owner: 'proc_other', generation: eb('generation', '+', 1) }))
              .where('session_id', '=', session)
              .execute(),
          ),
      )
      assert.deepEqual([outcome, turns, head.owner], ['lost', 0, 'proc_other'])
    })
  })
}
