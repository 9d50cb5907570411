import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { AutomationRequest } from '@steward/harness/automations.ts'
import { automationsTool } from '@steward/harness/tools/automations.ts'
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { rows } from '../../ground/database/rows.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../sessions/opening-fixture.ts'
import { openSession } from '../../sessions/open.ts'
import { deleteSession } from '../../sessions/update.ts'
import { sessionAutomations } from './of-session.ts'
import { runDue, runForDelivery } from './run-deployment.ts'
import { deploymentStore } from './store.ts'
import { mostScheduled, pauseDeployment, updateDeployment } from './write.ts'

const minute = 60_000
const begin = Date.UTC(2030, 0)
const daily: DeploymentSchedule = { type: 'cron', expression: '0 9 * * *', timezone: 'UTC' }
const made = { action: 'create', call: 'sevt_1', name: 'n', instructions: 'i' } as const
const onceIn = (minutes: number): DeploymentSchedule => ({
  type: 'once',
  run_at: iso(begin + minutes * minute),
})

/** A session, and its automations. */
async function sessionIn(database: Database) {
  const { agent, environment } = await agentIn(database)
  let now = begin
  const deps = createOpening(database, { clock: { now: () => now, sleep: async () => {} } })
  const ref = { db: database, tenant }
  const request = { agent, environment_id: environment, metadata: {}, vault_ids: [], resources: [] }
  const { id: session } = await openSession(deps, ref, request)
  const parts = sessionAutomations(deps)
  const of = parts.ofSession({ tenant, session })
  return {
    deps,
    ref,
    session,
    setTime: (time: number) => void (now = time),
    tool: automationsTool(of),
    /** Returns the automation, or the reason of a refusal. */
    async call(asked: AutomationRequest) {
      const effect = await of.prepare(asked)
      if (typeof effect === 'string') return { refused: effect, id: '' }
      const refused = await database.write((tx) =>
        parts.apply(tx, { tenant, session }, effect, now),
      )
      return { refused, id: effect.id }
    },
    async runDue(at: number) {
      now = at
      const due = await database.writeStatement((tx) => deploymentStore(tx).claimDue(at, at + 1, 9))
      for (const each of due) await runDue(deps, database, each, { isArchived: false })
      return due.length
    },
    row: (id: string) => rows(database.read, 'deployments').get(tenant, id),
    inbox: () =>
      database.read
        .selectFrom('inbox')
        .select('event')
        .where('session_id', '=', session)
        .orderBy('position')
        .execute(),
    fail: () =>
      database.write((tx) =>
        tx
          .updateTable('session_heads')
          .set({ status: 'failed' })
          .where('session_id', '=', session)
          .execute(),
      ),
  }
}

for (const [name, open] of Object.entries(databases)) {
  describe(`automations of a session on ${name}`, () => {
    // verifies: tools/automations/bounds
    it('lie five minutes apart also on days that follow each other only sometimes', async () => {
      await using opened = await open()
      const at = await sessionIn(opened.database)
      const expression = '0-50/5,56 0-20/2,23 1,3,5,7,9,11,12 * *'
      const { refused } = await at.call({ ...made, schedule: { ...daily, expression } })
      assert.match(refused ?? '', /5 minutes apart/)
    })

    // verifies: tools/automations/end
    it('end with a session that has failed', async () => {
      await using opened = await open()
      const at = await sessionIn(opened.database)
      const { id } = await at.call({ ...made, schedule: onceIn(30) })
      await at.fail()
      assert.equal(await at.runDue(begin + 60 * minute), 1)
      assert.notEqual((await at.row(id)).archived_at, null)
    })

    // verifies: tools/automations/end, sessions/delete/rows
    it('go with a deleted session, and those of developers stay', async () => {
      await using opened = await open()
      const { database } = opened
      const at = await sessionIn(database)
      const { id } = await at.call({ ...made, schedule: daily })
      const deleted = await at.call({ ...made, schedule: daily })
      await at.call({ action: 'delete', id: deleted.id })
      const { spec, ...row } = await at.row(id)
      const { made_by: _, ...ofDeveloper } = spec
      await database.write(async (tx) => {
        await rows(tx, 'deployments').insert({ ...row, id: 'depl_other', spec: ofDeveloper })
        await deleteSession(tx, tenant, at.session, begin)
      })
      const left = await database.read.selectFrom('deployments').select('id').execute()
      assert.deepEqual(
        left.map((each) => each.id),
        ['depl_other'],
      )
    })

    // verifies: tools/automations
    it('show no next time while they are paused', async () => {
      await using opened = await open()
      const at = await sessionIn(opened.database)
      const { id } = await at.call({ ...made, schedule: daily })
      await pauseDeployment(at.deps, at.ref, id)
      const change = { action: 'update', id, run_at: iso(begin + 30 * minute) }
      const { content } = await at.tool.run(change, { signal: AbortSignal.timeout(60_000) })
      const [block] = content
      assert.ok(block?.type === 'text')
      assert.deepEqual(JSON.parse(block.text), { id, status: 'paused', next_run_at: null })
    })

    // verifies: tools/automations/own, deployments/trigger/data
    it('frame no data of a signed request as words of the agent', async () => {
      await using opened = await open()
      const at = await sessionIn(opened.database)
      const { id } = await at.call({ ...made, schedule: daily })
      const run = await runForDelivery(at.deps, at.ref, id, { id: 'wh_1', data: 'of others' })
      assert.equal(run.error, null)
      const [data, instructions] = await at.inbox()
      assert.match(data?.event ?? '', /"text":"of others"/)
      assert.match(instructions?.event ?? '', /"text":"<automation id=/)
    })

    // verifies: deployments/limit
    it('that have run take no room of the workspace, and need it again for another time', async () => {
      await using opened = await open()
      const { database } = opened
      const at = await sessionIn(database)
      const { id } = await at.call({ ...made, schedule: onceIn(30) })
      const counted = () => deploymentStore(database.read).countScheduled(tenant)
      assert.equal(await counted(), 1)
      await at.runDue(begin + 60 * minute)
      assert.equal(await counted(), 0)
      const { schedule: _, ...row } = await at.row(id)
      await database.write(async (tx) => {
        for (let n = 0; n < mostScheduled; n++) {
          const other = { ...row, id: `depl_${n}`, schedule: daily, next_ms: begin }
          await rows(tx, 'deployments').insert(other)
        }
      })
      const again = await at.call({ action: 'update', id, schedule: onceIn(120) })
      assert.match(again.refused ?? '', /1000 deployments with a schedule/)
      const moved = updateDeployment(at.deps, at.ref, id, { schedule: onceIn(120) })
      await assert.rejects(moved, /at most 1000 deployments with a schedule/)
    })
  })
}
