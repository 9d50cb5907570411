import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunTurn } from '@steward/harness/turn.ts'
import { systemClock } from '@steward/base/time.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { agentMessage, tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { readEvents } from '../../sessions/log/log.ts'
import { newSession } from '../../sessions/fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import type { TurnAssembly, DrainDeps } from './turn-deps.ts'
import { drainSession } from './drain.ts'
import { recoveryLane } from './recovery-lane.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'go' }] }

/** A drain of one session whose turns run as given; the harness is the part that varies. */
async function drained(
  { database, bus }: TestDatabase,
  runTurn: RunTurn,
  assembled?: TurnAssembly,
) {
  const { lines: logged, ...ground } = testGround(database, { bus })
  const session = await newSession(database)
  await database.write((tx) => postEvents(tx, tenant, session, [message], Date.now()))
  const parts = {} as Extract<TurnAssembly, { ok: true }>['parts']
  const deps: DrainDeps = {
    ...ground,
    database,
    runTurn,
    running: () => 1,
    recoveries: recoveryLane(systemClock),
    assemble: async () =>
      assembled ?? {
        ok: true,
        parts,
        model: { name: 'priced', price: null },
        isElsewhere: false,
        rested: async () => {},
        release: () => {},
        readHistory: noneJoins,
      },
    abandon: async () => {},
    remove: async () => {},
  }
  const never = new AbortController().signal
  const signals = {
    takeNews: () => false,
    stopping: never,
    cut: never,
    wake: () => {},
    interrupt: () => {},
    slot: { leave: () => {}, hold: async () => {}, pause: async () => {} },
  }
  const outcome = await drainSession(deps, { tenant, session }, signals, [])
  const events = await readEvents(database.read, tenant, session, { limit: 100 })
  return { outcome, logged, events, head: await readHead(database.read, tenant, session) }
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`a drain on ${name}`, () => {
    // verifies: running/error/unknown
    it('ends a turn that fails because of a bug with an error, logs the reason, and releases the lease', async () => {
      await using testDatabase = await open()
      const { outcome, logged, events, head } = await drained(testDatabase, async function* () {
        throw new Error('a bug of ours')
      })
      assert.equal(outcome, 'rested')
      const error = JSON.parse(events.find(({ type }) => type === 'session.error')?.data ?? '{}')
      assert.equal(error.error.type, 'unknown_error')
      assert.doesNotMatch(error.error.message, /a bug of ours/)
      assert.match(logged.join(''), /a bug of ours/)
      assert.equal(events.at(-1)?.type, 'session.status_idle')
      const ends = events.filter(({ type }) => type === 'span.model_request_end')
      assert.equal(ends.length, 1, 'the request that was on record has an end')
      assert.deepEqual([head.status, head.due, head.owner], ['idle', 0, null])
    })

    it('ends a turn that cannot be put together with the reason', async () => {
      await using testDatabase = await open()
      const why = {
        ok: false,
        failure: { type: 'model_request_failed_error', message: 'no card is named x' },
      } as const
      const never: RunTurn = () => assert.fail('there is nothing to run')
      const { events } = await drained(testDatabase, never, why)
      assert.match(
        events.find(({ type }) => type === 'session.error')?.data ?? '',
        /no card is named x/,
      )
      assert.match(events.at(-1)?.data ?? '', /retries_exhausted/)
    })

    it('notifies readers of the beginning of a turn when the model was asked, and once of each commit', async () => {
      await using testDatabase = await open()
      const { bus } = testDatabase
      const heard: unknown[] = []
      for (const channel of [bus, bus.live]) {
        const before = { ...channel }
        channel.publish = (topic, message) => {
          heard.push(message['kind'])
          before.publish(topic, message)
        }
      }
      const posted = ['queued', 'row_changed', undefined]
      await drained(testDatabase, async function* () {
        assert.deepEqual(heard, posted, 'the model is asked')
        yield { type: 'keep', kept: [{ event: agentMessage('an answer') }] }
        return { stop: { type: 'end_turn' }, last: [] }
      })
      assert.deepEqual(heard, [
        ...[...posted, 'promoted', 'new_events'],
        ...['new_events', 'new_events'],
      ])
    })

    it('runs messages that were posted while its turn ran', async () => {
      await using testDatabase = await open()
      let turns = 0
      const { events } = await drained(testDatabase, async function* () {
        turns += 1
        if (turns === 1) {
          const [row] = await testDatabase.database.read
            .selectFrom('session_heads')
            .select('session_id')
            .execute()
          const post = [message, message]
          await testDatabase.database.write((tx) =>
            postEvents(tx, tenant, row?.session_id ?? '', post, Date.now()),
          )
        }
        return { stop: { type: 'end_turn' }, last: [] }
      })
      assert.equal(turns, 2)
      assert.equal(events.filter(({ type }) => type === 'user.message').length, 3)
      assert.equal(events.filter(({ type }) => type === 'session.status_idle').length, 2)
    })
  })
}
