import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import type { ClientEvent, NewEvent } from '@steward/protocol/events.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { databases, withNoticesOn } from '../../ground/database/fixture.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import { custom, needsAction, ranCall, text } from '../../sessions/events/fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { createEvalDeps, newRun, withRunner } from './fixture.ts'
import { evalStore } from './store.ts'
import { runTrial } from './trial.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { rows } from '../../ground/database/rows.ts'

const timeout_ms = 60_000

/** A call that a worker runs. */
const workersCall = () => ({ ...ranCall(), executed_by: 'worker' }) as const

/** A trial in a `self_hosted` environment. It begins with the first turn and is left when it waits. */
async function trialOf({ database, bus }: TestDatabase, sample: Sample, firstTurn: NewEvent[]) {
  const { id: environment_id } = await database.write((tx) =>
    environmentStore(tx).create(
      tenant,
      { ...emptyEnvironment, name: 'self-hosted', kind: 'self_hosted' },
      0,
    ),
  )
  const id = await newRun(database, { samples: [sample], environment_id, timeout_ms })
  // What is posted is heard after the runner's turn.
  const db = withNoticesOn(withRunner(database, [firstTurn]), bus)
  const moved = movedClock()
  const waits = Promise.withResolvers<void>()
  const clock: typeof moved = {
    ...moved,
    sleep(ms, signal) {
      waits.resolve()
      return moved.sleep(ms, signal)
    },
  }
  const deps = createEvalDeps(database, { bus, clock })
  const { signal } = new AbortController()
  const store = evalStore(database.read)
  const run = await rows(database.read, 'eval_runs').get(tenant, id)
  const read = async () => {
    const [row] = await store.trials(tenant, id, {})
    assert.ok(row)
    return row
  }
  const ended = runTrial(deps, { db, run, sample, signal, canceled: signal }, await read())
  await Promise.race([ended, waits.promise])
  const { session_id } = await read()
  return {
    read,
    clock,
    ended,
    async post(event: ClientEvent) {
      const session = session_id ?? ''
      await db.write((tx) => postEvents(tx, tenant, session, [event], clock.now()))
    },
  }
}

for (const [name, open] of Object.entries(databases))
  describe(`a trial in a self_hosted environment on ${name}`, () => {
    const resultOf = (call: { id: string }): ClientEvent => ({
      type: 'user.tool_result',
      tool_use_id: call.id,
      content: text('done'),
    })

    it('waits for its worker, whose result is no answer of a person', async () => {
      await using opened = await open()
      const call = workersCall()
      const trial = await trialOf(opened, { input: 'go' }, [call, needsAction(call.id)])
      assert.equal((await trial.read()).status, 'running')
      await trial.post(resultOf(call))
      await trial.ended
      assert.equal((await trial.read()).status, 'passed')
    })

    it('answers the calls of people meanwhile', async () => {
      await using opened = await open()
      const [call, question] = [workersCall(), custom()]
      const idle = needsAction(call.id, question.id)
      const answers = [{ tool: question.name, content: '42' }]
      const sample = { input: 'go', answers }
      const trial = await trialOf(opened, sample, [call, question, idle])
      await trial.ended
      assert.equal((await trial.read()).status, 'passed')
    })

    it('waits no longer than its own time', async () => {
      await using opened = await open()
      const call = workersCall()
      const trial = await trialOf(opened, { input: 'go' }, [call, needsAction(call.id)])
      await trial.clock.pass(timeout_ms)
      await trial.ended
      const { status, error } = await trial.read()
      assert.deepEqual([status, error?.type], ['errored', 'timeout'])
    })
  })
