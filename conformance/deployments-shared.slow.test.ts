import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { TestService } from './service.ts'
import { besideService, boot } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/**
 * Number of schedules that are due at one moment. When the variable is set, the test also checks how late the last is.
 */
const given = process.env['STEWARD_TEST_SCHEDULES']
const [count, isMeasured] = [Number(given ?? 40), given !== undefined]
const mostLateMs = 5_000

describe('schedules over two processes on one Postgres', () => {
  const services: TestService[] = []
  before(async () => {
    const url = await newPostgresUrl()
    const first = await boot('postgres', { env: { DATABASE_URL: url } })
    services.push(first, await boot('postgres', { env: besideService(url, first) }))
  })
  after(() => Promise.all(services.map((each) => each.close())))

  verifies(
    'deployments/schedule/once',
    'each have one run, and each run one session',
    async (context) => {
      const [service] = services
      assert.ok(service)
      const { beta } = service.client
      const { read } = service.database
      const agent = await beta.agents.create({ name: 'a', model: 'offline' })
      const environment = await beta.environments.create({ name: 'e' })
      const made = await beta.deployments.create({
        name: 'd',
        agent: agent.id,
        environment_id: environment.id,
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: a' }] }],
        schedule: { type: 'cron', expression: '0 0 29 2 *', timezone: 'UTC' },
      })
      const row = await read
        .selectFrom('deployments')
        .selectAll()
        .where('id', '=', made.id)
        .executeTakeFirstOrThrow()
      const due = Date.now() + 2_000
      const schedule = JSON.stringify({ type: 'once', run_at: iso(due) }) as typeof row.schedule
      const many = Array.from({ length: count }, (_, index) => ({
        ...row,
        ...{ schedule, next_ms: due, due_ms: due },
        id: `depl_${index}`,
      }))
      for (let at = 0; at < count; at += 200)
        await service.database.write((tx) =>
          tx
            .insertInto('deployments')
            .values(many.slice(at, at + 200))
            .execute(),
        )
      // A change of a deployment makes each process look for due schedules.
      await beta.deployments.update(made.id, { description: 'due' })
      const runsNow = () => read.selectFrom('deployment_runs').selectAll().execute()
      await until(async () => (await runsNow()).length >= count)
      const runs = await runsNow()
      const distinct = (values: readonly unknown[]) => new Set(values).size
      assert.deepEqual(
        [runs.length, distinct(runs.map((run) => run.deployment_id))],
        [count, count],
      )
      assert.equal(distinct(runs.map(({ session_id }) => session_id)), runs.length)
      const sessions = await read.selectFrom('sessions').select('id').execute()
      assert.equal(sessions.length, runs.length)
      const last = Math.max(...runs.map(({ created_at }) => Date.parse(created_at)))
      const told = `the last of ${runs.length} runs started ${last - due} ms after its time`
      context.diagnostic(told)
      if (isMeasured) assert.ok(last - due <= mostLateMs, told)
    },
  )
})
