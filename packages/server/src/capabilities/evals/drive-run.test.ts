import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { driveRun } from './drive-run.ts'
import { createEvalDeps, newRun, withRunner } from './fixture.ts'
import { evalStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const { signal } = new AbortController()

const missing = { type: 'file' as const, file_id: 'file_0123456789abcdefghjkmnpqrs' }
const image = {
  type: 'user.message' as const,
  content: [{ type: 'image' as const, source: missing }],
}
const fine = Array.from({ length: 4 }, (_, n) => ({ id: `fine${n}`, input: 'hello' }))

/** Status of the run, and status and error of each trial. */
async function stateOf({ read }: Database, id: string) {
  const { status } = await rows(read, 'eval_runs').get(tenant, id)
  const trials = await evalStore(read).trials(tenant, id, {})
  return { status, trials: trials.map((each) => [each.sample_id, each.status, each.error?.type]) }
}

/** Calls `change` after each write until it returns true. */
function afterWrites(database: Database, change: () => Promise<boolean>): Database {
  let isDone = false
  return {
    ...database,
    async write(unit) {
      const result = await database.write(unit)
      isDone ||= await change()
      return result
    },
  }
}

for (const [name, open] of Object.entries(databases))
  describe(`a run of an eval on ${name}`, () => {
    it('scores the other samples beside one whose second message names a deleted file', async () => {
      await using opened = await open()
      const { database } = opened
      const samples = [{ id: 'bad', input: ['hello', image] }, ...fine]
      const id = await newRun(database, { samples, max_concurrency: 2 })
      await driveRun(
        createEvalDeps(database, { bus: opened.bus }),
        { db: withRunner(database), tenant, id },
        signal,
      )
      assert.deepEqual(await stateOf(database, id), {
        status: 'completed',
        trials: [
          ['bad', 'errored', 'step_refused'],
          ...fine.map((each) => [each.id, 'passed', undefined]),
        ],
      })
    })

    it('scores the other samples beside one whose session cannot be read', async () => {
      await using opened = await open()
      const { database } = opened
      const samples = [{ id: 'bad', input: ['hello', 'again'] }, ...fine]
      const id = await newRun(database, { samples, max_concurrency: 2 })
      const db = afterWrites(withRunner(database), async () => {
        const [trial] = await evalStore(database.read).trials(tenant, id, {})
        if (!trial?.session_id) return false
        const { session_id } = trial
        await database.writeStatement((tx) =>
          tx.deleteFrom('session_heads').where('session_id', '=', session_id).execute(),
        )
        return true
      })
      await driveRun(createEvalDeps(database, { bus: opened.bus }), { db, tenant, id }, signal)
      const { status, trials } = await stateOf(database, id)
      assert.deepEqual([status, trials[0]], ['completed', ['bad', 'errored', 'internal_error']])
      assert.ok(trials.slice(1).every(([, each]) => each === 'passed'))
    })

    for (const [what, columns, status] of [
      ['drives', {}, 'running'],
      ['has ended', { status: 'canceled', ended_at: iso(1) }, 'canceled'],
    ] as const)
      it(`is not changed when its trials have ended and another process ${what} it`, async () => {
        await using opened = await open()
        const { database } = opened
        const id = await newRun(database, { samples: fine.slice(0, 2) })
        const db = afterWrites(withRunner(database), async () => {
          const left = await evalStore(database.read).trials(tenant, id, { isOpen: true })
          if (left.length > 0) return false
          await database.writeStatement((tx) =>
            tx
              .updateTable('eval_runs')
              .set({ owner: 'proc_other', ...columns })
              .where('id', '=', id)
              .execute(),
          )
          return true
        })
        await driveRun(createEvalDeps(database, { bus: opened.bus }), { db, tenant, id }, signal)
        const run = await rows(database.read, 'eval_runs').get(tenant, id)
        assert.deepEqual([run.status, run.owner, run.scores], [status, 'proc_other', null])
      })
  })
