import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantBlock } from '@steward/model/model.ts'
import type { ScriptedAnswer } from '@steward/harness/fake-model.ts'
import { fakeModel } from '@steward/harness/fake-model.ts'
import { plainSurroundings } from '@steward/harness/fixture.ts'
import { emptyHistory } from '@steward/harness/history.ts'
import { runTurn } from '@steward/harness/loop.ts'
import type { Clock } from '@steward/base/time.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { claimHead } from '../../../ground/database/lease.ts'
import { shapesOf } from '../../../ground/database/shapes-fixture.ts'
import type { ClientEvent } from '@steward/protocol/events.ts'
import { postEvents } from '../../../sessions/events/post.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import { readHead } from '../../../sessions/log/head.ts'
import { readEvents } from '../../../sessions/log/log.ts'
import { drainSession } from '../drain.ts'
import { recoveryLane } from '../recovery-lane.ts'
import type { Step } from '../steps.ts'
import { nextStep } from '../steps.ts'
import type { DrainDeps } from '../turn-deps.ts'
import { testGround } from '../../../ground/ground-fixture.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

const rubric = { type: 'text' as const, content: 'It rhymes.' }
const define = { type: 'user.define_outcome' as const, description: 'a poem', rubric }
const interrupt = { type: 'user.interrupt' as const }

const says = (text: string): ScriptedAnswer => ({ blocks: [{ type: 'text', text }] })
const verdict = (
  result: string,
  criteria: object[] = [{ criterion: 'rhymes', met: result === 'satisfied' }],
): ScriptedAnswer => {
  const input = { result, explanation: 'because', criteria }
  const call: AssistantBlock = { type: 'tool_call', id: 'v', name: 'submit_verdict', input }
  return { blocks: [call], end: 'tool_use' }
}

type GraderScript = {
  /** The assembly that fails, counted from the agent's turn, which is the first. */
  missingAt?: number
  answers: ScriptedAnswer[]
  posted?: ClientEvent[]
  /** Called with each wait of 15 seconds. The wait ends at once when this returns true. */
  passes?: (count: number, world: World) => boolean | Promise<boolean>
}
const missing = { type: 'model_request_failed_error' as const, message: 'its key is gone' }

type World = { database: Database; session: string; abort: () => void; stop: () => void }

/** Drains a new session whose model gives the scripted answers. */
async function drained(
  database: Database,
  { answers, posted = [define], passes, missingAt }: GraderScript,
) {
  const session = await newSession(database)
  await database.write((tx) => postEvents(tx, tenant, session, posted, 1_000))
  const model = fakeModel(answers)
  const stopping = new AbortController()
  const world = { database, session, abort: () => {}, stop: () => stopping.abort() }
  let waits = 0
  let assembled = 0
  const clock: Clock = {
    now: () => Date.now(),
    async sleep(ms, signal) {
      assert.equal(ms, 15_000)
      if (await passes?.(++waits, world)) return
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  }
  const deps: DrainDeps = {
    ...testGround(database, { clock }),
    database,
    runTurn,
    running: () => 1,
    recoveries: recoveryLane(clock),
    assemble: async () =>
      ++assembled === missingAt
        ? { ok: false, failure: missing }
        : {
            ok: true,
            parts: {
              ...plainSurroundings,
              system: '',
              history: emptyHistory(),
              model,
              tools: [],
              cacheKey: session,
              maxRequests: 5,
              retryDelaysMs: [],
              newEventId: () => newId('event'),
              report: (error) => assert.fail(String(error)),
            },
            model: { name: 'fake', price: null },
            isElsewhere: false,
            rested: async () => {},
            release: () => {},
            readHistory: noneJoins,
          },
    abandon: async () => {},
    remove: async () => {},
  }
  const signals = {
    takeNews: () => false,
    stopping: stopping.signal,
    cut: new AbortController().signal,
    wake: () => {},
    interrupt: (abort: () => void) => void (world.abort = abort),
    slot: { leave: () => {}, hold: async () => {}, pause: async () => {} },
  }
  await drainSession(deps, { tenant, session }, signals, [])
  const log = async () =>
    readEvents(database.read, tenant, session, { limit: 100, extensions: true })
  const head = await readHead(database.read, tenant, session)
  return { log: await log(), head, model, session }
}

const ofType = (log: readonly { type: string; data: string }[], type: string) =>
  log
    .filter((event) => event.type === type)
    .map(({ data }): Record<string, unknown> => JSON.parse(data))

/** The first step after the death of the session's process, or the step after its wait, where it need not wait. */
async function afterDeath(database: Database, session: string, isWaiting: boolean): Promise<Step> {
  const dead = { owner: 'proc_dead', expires_at: -1 }
  return database.write(async (tx) => {
    await tx.updateTable('session_heads').set(dead).where('session_id', '=', session).execute()
    const fence = await claimHead(tx, session, { owner: database.owners.self, dead: [], now: 0 })
    assert.ok(fence)
    const lease = { tenant, session, fence }
    const step = await nextStep(tx, lease, { now: 0, claimed: true })
    const waits = step.kind === 'evaluation' && step.recovered?.isSuspect
    if (!waits || isWaiting) return step
    return nextStep(tx, lease, { now: 0, claimed: false, hasWaited: true })
  })
}

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`an outcome on ${name}`, () => {
    // verifies: outcomes/ongoing
    it('says every 15 seconds that its work is being judged, until it is interrupted', async () => {
      await using testDatabase = await open()
      const { log, head } = await drained(testDatabase.database, {
        answers: [says('a poem'), { end: 'hang' }],
        async passes(count, { database, session, abort }) {
          if (count <= 2) return true
          await database.write((tx) => postEvents(tx, tenant, session, [interrupt], 2_000))
          abort()
          return false
        },
      })
      assert.equal(ofType(log, 'span.outcome_evaluation_ongoing').length, 2)
      const [end] = ofType(log, 'span.outcome_evaluation_end')
      assert.equal(end?.['result'], 'interrupted')
      assert.equal(log.at(-1)?.type, 'session.status_idle')
      assert.deepEqual([head.status, head.due, head.owner], ['idle', 0, null])
    })

    it('is released by a server that stops, with its start and without an end', async () => {
      await using testDatabase = await open()
      const { log, head } = await drained(testDatabase.database, {
        answers: [says('a poem'), { end: 'hang' }],
        passes(_count, { stop }) {
          stop()
          return false
        },
      })
      assert.equal(ofType(log, 'span.outcome_evaluation_start').length, 1)
      assert.equal(ofType(log, 'span.outcome_evaluation_end').length, 0)
      assert.deepEqual([head.status, head.due, head.owner], ['running', 1, null])
    })

    // verifies: running/recovery/given-up
    it('is given up after six deaths during its work, or after many of those that it waited in', async () => {
      await using testDatabase = await open()
      for (const [isWaiting, expected] of [
        [false, 6],
        [true, 2 + 16],
      ] as const) {
        const { session } = await drained(testDatabase.database, {
          answers: [says('a poem'), { end: 'hang' }],
          passes(_count, { stop }) {
            stop()
            return false
          },
        })
        let deaths = 0
        let step: Step
        do {
          deaths++
          step = await afterDeath(testDatabase.database, session, isWaiting)
        } while (step.kind === 'evaluation' && deaths < 30)
        assert.deepEqual([step.kind, deaths], ['rest', expected])
      }
    })

    // verifies: outcomes/failed
    it('fails with an error when its grader cannot be put together', async () => {
      await using testDatabase = await open()
      const { log, head } = await drained(testDatabase.database, {
        answers: [says('a poem')],
        missingAt: 2,
      })
      const [told] = ofType(log, 'session.error')
      assert.deepEqual(told?.['error'], { ...missing, retry_status: { type: 'exhausted' } })
      const [end] = ofType(log, 'span.outcome_evaluation_end')
      assert.equal(end?.['result'], 'failed')
      assert.match(String(end?.['explanation']), /its key is gone/)
      assert.equal(log.at(-1)?.type, 'session.status_idle')
      assert.deepEqual([head.status, head.due, head.owner], ['idle', 0, null])
    })

    it('takes no verdict without criteria for satisfied', async () => {
      await using testDatabase = await open()
      const empty = verdict('satisfied', [])
      const { log } = await drained(testDatabase.database, {
        answers: [says('a poem'), empty, empty],
      })
      const [end] = ofType(log, 'span.outcome_evaluation_end')
      assert.equal(end?.['result'], 'failed')
    })

    it('counts what its grader asked, and keeps none of its words', async () => {
      await using testDatabase = await open()
      const { log, model, head } = await drained(testDatabase.database, {
        answers: [says('a poem'), verdict('needs_revision'), says('shorter'), verdict('satisfied')],
      })
      assert.equal(model.calls.length, 4)
      assert.deepEqual(
        ofType(log, 'span.outcome_evaluation_end').map(({ result }) => result),
        ['needs_revision', 'satisfied'],
      )
      assert.equal(ofType(log, 'aux.model_call').length, 2)
      assert.equal(log.filter(({ type }) => type === 'agent.tool_use').length, 0)
      assert.equal(log.filter(({ type }) => type === 'session.status_idle').length, 1)
      assert.equal(head.outcome, 4)
    })
  })
}
