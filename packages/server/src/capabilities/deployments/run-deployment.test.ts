import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'
import type { EventOf } from '@steward/protocol/events.ts'
import { RateLimitError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import type { FileRow } from '../../resources/files/store.ts'
import { fileStore } from '../../resources/files/store.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../sessions/opening-fixture.ts'
import { runDue } from './run-deployment.ts'
import type { ClaimedDeployment } from './store.ts'
import { deploymentStore } from './store.ts'
import { createDeployment, updateDeployment } from './write.ts'
import { rows } from '../../ground/database/rows.ts'

const second = 1_000
const begin = Date.UTC(2030, 0)
const due = begin + 60 * second
const once: DeploymentSchedule = { type: 'once', run_at: iso(due) }
const isOpen = { isArchived: false }
type Content = EventOf<'user.message'>['content']
const text: Content = [{ type: 'text', text: 'a' }]

/** The parts of a process, and functions on the deployments of a workspace. */
async function deploymentsIn(database: Database) {
  const { agent, environment } = await agentIn(database)
  let now = begin
  const deps = createOpening(database, { clock: { now: () => now, sleep: async () => {} } })
  const ref = { db: database, tenant }
  return {
    deps,
    ref,
    setTime: (time: number) => void (now = time),
    deploy: async (name: string, schedule = once, content = text): Promise<string> => {
      const initial_events = [{ type: 'user.message' as const, content }]
      const body = { name, agent, environment_id: environment, initial_events, schedule }
      return (await createDeployment(deps, ref, body)).id
    },
    claim: (at: number, limit = 5) =>
      database.writeStatement((tx) => deploymentStore(tx).claimDue(at, at + 5 * second, limit)),
    run: (claimed: ClaimedDeployment, db = database) => runDue(deps, db, claimed, isOpen),
    runs: () =>
      database.read.selectFrom('deployment_runs').selectAll().orderBy('created_at').execute(),
    row: (id: string) => rows(database.read, 'deployments').get(tenant, id),
  }
}

const idsOf = (claimed: readonly ClaimedDeployment[]) => claimed.map(({ id }) => id).toSorted()

for (const [name, open] of Object.entries(databases)) {
  describe(`deployments that are due on ${name}`, () => {
    // verifies: deployments/schedule/once
    it('are claimed by one process at a time, and by another when that one has died', async () => {
      await using opened = await open()
      const at = await deploymentsIn(opened.database)
      const made: string[] = []
      for (let n = 0; n < 7; n++) made.push(await at.deploy(`${n}`))
      assert.deepEqual(await at.claim(due - 1), [])
      at.setTime(due)
      const both = (await Promise.all([at.claim(due), at.claim(due)])).flat()
      const others = await at.claim(due)
      assert.deepEqual(idsOf([...both, ...others]), made.toSorted())
      assert.deepEqual(await at.claim(due + 5 * second - 1), [])
      const again = await at.claim(due + 5 * second, 10)
      assert.deepEqual(idsOf(again), made.toSorted())
      // A slow process runs claims that another process has taken over.
      for (const each of both) await at.run(each)
      assert.deepEqual(await at.runs(), [])
      for (const each of again) await Promise.all([at.run(each), at.run(each)])
      const runs = await at.runs()
      assert.deepEqual(runs.map((run) => run.deployment_id).toSorted(), made.toSorted())
      assert.ok(runs.every((run) => run.error === null && run.scheduled_at === iso(due)))
    })

    // verifies: deployments/schedule/once
    it('lose the time of a schedule that is changed meanwhile, and follow any other change', async () => {
      await using opened = await open()
      const { database } = opened
      const at = await deploymentsIn(database)
      const moved = await at.deploy('moved')
      const renamed = await at.deploy('old')
      at.setTime(due)
      const claimed = await at.claim(due)
      const later = due + 3_600 * second
      const schedule: DeploymentSchedule = { type: 'once', run_at: iso(later) }
      await updateDeployment(at.deps, at.ref, moved, { schedule })
      let isRenamed = false
      /** A caller changes the deployment before the unit of the run begins. */
      const overtaken: Database = {
        ...database,
        async write(unit) {
          if (!isRenamed) {
            isRenamed = true
            await updateDeployment(at.deps, at.ref, renamed, { name: 'new' })
          }
          return database.write(unit)
        },
      }
      at.setTime(due + 1)
      for (const each of claimed) await at.run(each, each.id === renamed ? overtaken : database)
      assert.deepEqual(
        (await at.runs()).map((run) => run.deployment_id),
        [renamed],
      )
      const sessions = await database.read.selectFrom('sessions').select('title').execute()
      assert.deepEqual(
        sessions.map(({ title }) => title),
        ['new'],
      )
      assert.equal((await at.row(moved)).due_ms, later)
    })

    // verifies: deployments/failed, deployments/paused-by-error
    it('fail and are paused where a file of their first message has expired', async () => {
      await using opened = await open()
      const { database } = opened
      const at = await deploymentsIn(database)
      const file: FileRow = {
        tenant_id: tenant,
        id: newId('file'),
        filename: 'a.txt',
        mime_type: 'text/plain',
        size_bytes: 1,
        sha256: '',
        session_id: null,
        origin: 'upload',
        blob_key: 'a',
        downloadable: 0,
        expires_at: iso(due),
        created_at: iso(begin),
      }
      await database.write((tx) => fileStore(tx).insert(file))
      const source = { type: 'file' as const, file_id: file.id }
      const id = await at.deploy('reads', once, [{ type: 'document', source }])
      at.setTime(due)
      for (const each of await at.claim(due)) await at.run(each)
      const { paused_reason, spec } = await at.row(id)
      const error = { type: 'file_not_found_error' }
      assert.deepEqual(paused_reason, { type: 'error', error })
      assert.match(String((await at.runs())[0]?.error), /"type":"file_not_found_error"/)
      assert.match(
        JSON.stringify(spec.initial_events),
        new RegExp(file.id),
        'it is shown as before',
      )
    })

    // verifies: deployments/failed, deployments/paused-by-error
    it('fail where the workspace has no room or the model no price, and stay active', async () => {
      await using opened = await open()
      const { database } = opened
      const at = await deploymentsIn(database)
      const everyMinute = { type: 'cron', expression: '* * * * *', timezone: 'UTC' } as const
      const limited = await at.deploy('limited', everyMinute)
      const { due_ms, spec } = await at.row(limited)
      at.setTime(due_ms ?? 0)
      const full = new RateLimitError('too many sessions', 60)
      const { limits } = at.deps
      at.deps.limits = {
        ...limits,
        quotas: { ...limits.quotas, daily: () => Promise.reject(full) },
      }
      for (const each of await at.claim(due_ms ?? 0)) await at.run(each)
      const next = (await at.row(limited)).due_ms ?? 0
      assert.ok(next > (due_ms ?? 0), 'the next time, not the same again')
      at.deps.limits = limits
      const budget = { type: 'limit', max_list_cost: { amount: '5', currency: 'USD' } } as const
      await database.write(async (tx) => {
        const row = await rows(tx, 'deployments').getForUpdate(tenant, limited)
        await rows(tx, 'deployments').update(row, { spec: { ...spec, budget } })
      })
      at.setTime(next)
      for (const each of await at.claim(next)) await at.run(each)
      const errors = (await at.runs()).map(({ error }) => /"type":"(\w+)"/.exec(String(error))?.[1])
      assert.deepEqual(errors, ['session_rate_limited_error', 'session_creation_rejected_error'])
      assert.equal((await at.row(limited)).paused_reason, null)
      const sessions = await database.read.selectFrom('sessions').select('id').execute()
      assert.deepEqual(sessions, [])
    })
  })
}
