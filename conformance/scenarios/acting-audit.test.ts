import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the audit of actors that are no person, on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())
    const beta = () => service.client.beta

    async function deployed() {
      const agent = await beta().agents.create({ name: fresh('agent'), model: 'offline' })
      const environment = await beta().environments.create({ name: fresh('environment') })
      return beta().deployments.create({
        name: fresh('deployment'),
        agent: agent.id,
        environment_id: environment.id,
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: hi' }] }],
        schedule: { type: 'cron', expression: '* * * * *', timezone: 'UTC' },
      })
    }

    /** A change of a scheduled deployment makes the server look for due schedules. */
    async function scheduledRun(id: string) {
      await service.tenantDatabase.write((tx) =>
        tx
          .updateTable('deployments')
          .set({ next_ms: Date.now() - 120_000, due_ms: Date.now() })
          .where('id', '=', id)
          .execute(),
      )
      await beta().deployments.update(id, { description: 'due' })
      const runs = async () => (await beta().deploymentRuns.list({ deployment_id: id })).data
      await until(async () => (await runs()).length > 0)
      return (await runs())[0]
    }

    verifies(
      ['audit/lines/acting'],
      'a session that a schedule starts has a line with the deployment as its actor, and who is behind it',
      async () => {
        const made = await deployed()
        const run = await scheduledRun(made.id)
        const byHand = await beta().deployments.run(made.id)
        for (const session of [run?.session_id, byHand.session_id]) {
          const { body } = await service.ask('GET', `/v1/ext/audit?resource_id=${session}`)
          const lines = body.data.filter((each) => each['action'] === 'session.create')
          const actor = { type: 'deployment', id: made.id, name: made.name }
          assert.deepEqual(
            lines.map((line) => line['actor']),
            [actor],
          )
          assert.match(JSON.stringify(lines[0]?.['after']), /"on_behalf_of":\{"type":"api_key"/)
        }
      },
    )
  })
}
