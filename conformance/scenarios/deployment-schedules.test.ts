import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename))
  describe(`schedules of deployments on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    verifies(
      'deployments/schedule/clock-once',
      'a schedule says what happens at changes of the clock, and nothing that is not known',
      async () => {
        const { agents, environments } = service.client.beta
        const agent = await agents.create({ name: fresh('agent'), model: 'offline' })
        const environment = await environments.create({ name: fresh('environment') })
        const create = (more: object) =>
          service.ask('POST', '/v1/deployments', {
            name: fresh('deployment'),
            agent: agent.id,
            environment_id: environment.id,
            initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: a' }] }],
            schedule: { type: 'cron', expression: '0 9 * * *', timezone: 'UTC', ...more },
          })
        const { status, body } = await create({ clock_changes: 'run_once' })
        assert.equal(status, 200, JSON.stringify(body))
        assert.match(JSON.stringify(body['schedule']), /"clock_changes":"run_once"/)
        const wrong = await create({ clock_changes: 'twice' })
        assert.equal(wrong.status, 400)
        assert.match(JSON.stringify(wrong.body), /schedule\.clock_changes: must be 'run_once'/)
        const usual = await create({})
        assert.doesNotMatch(JSON.stringify(usual.body), /clock_changes/)
      },
    )
  })
