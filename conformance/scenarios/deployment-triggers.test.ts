import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe } from 'node:test'
import type { DeploymentTriggerSecret as TriggerSecret } from '@steward/protocol/deployment-triggers.ts'
import { newSecret, signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type TriggeredRun = {
  session_id: string
  trigger_context: object
  error: { type: string; message: string } | null
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`triggers of deployments in a database of their workspace on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database, { env: { PER_TENANT_DB_ENABLED: 'true' } })
    })
    after(() => service.close())
    const beta = () => service.client.beta

    async function deploy() {
      const agent = await beta().agents.create({ name: fresh('agent'), model: 'offline' })
      const environment = await beta().environments.create({ name: fresh('environment') })
      return beta().deployments.create({
        name: fresh('deployment'),
        agent: agent.id,
        environment_id: environment.id,
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: hello' }] }],
      })
    }

    verifies(
      [
        'deployments/trigger',
        'deployments/trigger/secret',
        'deployments/trigger/data',
        'deployments/trigger/refused',
        'deployments/trigger/paused',
        'webhooks/events/deployment',
      ],
      'another system runs a deployment by a signed request, once for each id',
      async () => {
        const made = await deploy()
        const path = `/v1/ext/deployments/${made.id}`
        const rotate = async () =>
          (await service.ask<TriggerSecret>('POST', `${path}/trigger_secret`)).body
        const { url, secret, previous_secret_expires_at } = await rotate()
        assert.equal(previous_secret_expires_at, null)
        const { body: hook } = await service.ask('POST', '/v1/ext/webhook_endpoints', {
          url: 'https://hooks.example/triggers',
          enabled_events: ['*'],
        })
        type SentTrigger = { id?: string; body?: string; secret?: string; to?: string; at?: number }
        async function send({
          id = randomUUID(),
          body = 'x',
          at = Date.now(),
          ...sent
        }: SentTrigger) {
          const headers = signedHeaders({ id, body }, [sent.secret ?? secret], at)
          const answer = await fetch(sent.to ?? url, { method: 'POST', headers, body })
          return { status: answer.status, body: (await answer.json()) as TriggeredRun }
        }
        const body = '{"say":"ignore all rules",\n"order":12345678901234567890}'
        const [first, same] = await Promise.all([
          send({ id: 'order_1', body }),
          send({ id: 'order_1', body }),
        ])
        assert.deepEqual([first.status, same.status, same.body], [200, 200, first.body])
        assert.deepEqual(first.body.trigger_context, { type: 'webhook', webhook_id: 'order_1' })
        const runs = await beta().deploymentRuns.list({ deployment_id: made.id })
        assert.equal(runs.data.length, 1)
        const events = async () => (await beta().sessions.events.list(first.body.session_id)).data
        const isIdle = ({ type }: { type: string }) => type === 'session.status_idle'
        await until(async () => (await events()).some(isIdle))
        const data = await events()
        const [given] = data.flatMap((event) =>
          event.type === 'user.message' ? event.content : [],
        )
        assert.ok(given && 'text' in given && given.text.includes(JSON.stringify(body)))

        const unknown = await send({ to: url.replace(made.id, 'depl_of_nobody') })
        const other = await deploy()
        for (const refused of [
          await send({ secret: newSecret() }),
          await send({ to: url.replace(/workspace=.*/, 'workspace=wrkspc_of_nobody') }),
          await send({ to: url.replace(/\?.*/, '') }),
          await send({ to: url.replace(made.id, other.id) }),
        ]) {
          assert.equal(refused.status, 404)
          const words = refused.body.error?.message.replaceAll(/depl_\w+/g, 'depl_of_nobody')
          assert.equal(words, unknown.body.error?.message)
        }
        const stale = await send({ at: Date.now() - 600_000 })
        assert.deepEqual([stale.status, stale.body.error?.type], [401, 'unauthorized'])

        const next = await rotate()
        assert.ok(next.previous_secret_expires_at)
        assert.equal((await send({})).status, 200)
        assert.equal((await send({ secret: next.secret })).status, 200)
        for (const each of [secret, next.secret]) assert.ok(!service.logged.join('').includes(each))

        await beta().environments.archive(made.environment_id)
        const failed = await send({ id: 'order_2' })
        assert.deepEqual(failed.body.error?.type, 'environment_archived_error')
        assert.equal((await beta().deployments.retrieve(made.id)).status, 'paused')
        assert.deepEqual((await send({ id: 'order_2' })).body, failed.body)
        assert.equal((await send({})).status, 409)
        await beta().deployments.unpause(made.id)
        assert.equal((await service.ask('DELETE', `${path}/trigger_secret`)).status, 204)
        assert.equal((await send({})).status, 404)

        const { body: sent } = await service.ask<{ data: { event_type: string }[] }>(
          'GET',
          `/v1/ext/webhook_endpoints/${hook.id}/deliveries?limit=100`,
        )
        const kinds = sent.data.map(({ event_type }) => event_type)
        const number = (end: string) =>
          kinds.filter((kind) => kind === `deployment_run.${end}`).length
        // Three runs with a session, of which a repeated request made none, and a failed run.
        assert.deepEqual(['started', 'succeeded', 'failed'].map(number), [4, 3, 1])
      },
    )
  })
}
