import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../sessions/opening-fixture.ts'
import { deploymentJob } from './job.ts'
import { createDeployment } from './write.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'

const second = 1_000

/** A clock, and the parts of the job that reads `all`. `lines`: what it logs. */
function jobOn(all: readonly [Database, ...Database[]]) {
  const clock = movedClock()
  const lines: string[] = []
  const [control] = all
  const databases: Databases = {
    ...oneDatabase(control),
    async *due() {
      yield* all
    },
  }
  const deps = createOpening(databases, { clock, log: jsonLog((line) => void lines.push(line)) })
  return { deps, clock, lines, job: deploymentJob(deps) }
}

/** Deploys for one run, `ms` after the present time of the clock. */
async function deployIn(deps: OpenSessionDeps, db: Database, ms: number): Promise<void> {
  const { agent, environment } = await agentIn(db)
  await createDeployment(
    deps,
    { db, tenant },
    {
      ...{ name: 'a', agent, environment_id: environment },
      schedule: { type: 'once', run_at: iso(deps.clock.now() + ms) },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'a' }] }],
    },
  )
}

/** A database that reads, and whose disk takes no claims. */
const fullDisk = (db: Database): Database => ({
  ...db,
  writeStatement: () => Promise.reject(new Error('database or disk is full')),
})

for (const [name, open] of Object.entries(databases)) {
  describe(`the job that runs deployments on ${name}`, () => {
    it('tries a claim that failed again at the next poll, and not at once', async () => {
      await using opened = await open()
      const { deps, clock, lines, job } = jobOn([fullDisk(opened.database)])
      await deployIn(deps, opened.database, 5 * second)
      let rings = 0
      const stop = job.start?.(() => void rings++)
      const { signal } = new AbortController()
      await job.run(signal)
      await clock.pass(5 * second)
      assert.equal(rings, 1, 'the deployment is due')
      assert.ok(await job.run(signal), 'no next run follows at once')
      await clock.pass(second)
      assert.deepEqual([rings, lines.length], [1, 1])
      await stop?.()
    })

    it('runs what is due elsewhere at its time, while claims of one database fail', async () => {
      await using full = await open()
      await using other = await open()
      const { deps, clock, job } = jobOn([other.database, fullDisk(full.database)])
      await deployIn(deps, full.database, second)
      await deployIn(deps, other.database, 5 * second)
      const workspace = { id: tenant, name: 'a', archived_at: null, deleted_at: null }
      await other.database.write((tx) =>
        tx
          .insertInto('workspaces')
          .values({ ...workspace, created_at: iso(0) })
          .execute(),
      )
      let rings = 0
      const stop = job.start?.(() => void rings++)
      const { signal } = new AbortController()
      await clock.pass(second)
      assert.ok(await job.run(signal))
      await clock.pass(second)
      assert.equal(rings, 0)
      await clock.pass(3 * second)
      assert.equal(rings, 1)
      await job.run(signal)
      const runs = await other.database.read.selectFrom('deployment_runs').selectAll().execute()
      assert.equal(runs.length, 1)
      await stop?.()
    })
  })
}
