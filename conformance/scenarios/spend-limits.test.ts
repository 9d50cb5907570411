/** The amount that a workspace may spend in each day and month. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { SpendLimit } from '@steward/protocol/spend-limits.ts'
import type { UsageReport } from '@steward/protocol/usage.ts'
import { setSpendLimit } from '@steward/server/tenants/limits/operator-limits.ts'
import { callerAt } from '../caller.ts'
import { pricedModel, says, unpricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, idleOf, newSession, only, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { delivered, newEndpoint } from '../webhooks.ts'

const path = '/v1/organizations/spend_limits'
/** A tenth of a cent for each token: a request costs twenty cents. */
const cost = { input: 1_000, output: 1_000 }
const usage = { input: 150, output: 50 }

for (const database of scenarioDatabases(import.meta.filename))
  describe(`spend limits on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { overrides: { clock } })
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    const limitOf = async (body: object, id = '') => {
      const answer = await service.ask<SpendLimit>('POST', `${path}${id}`, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const effective = async () => {
      const found: unknown[] = []
      for await (const {
        period,
        amount,
        period_to_date_spend,
      } of service.client.organization.spendLimits.effective.list())
        found.push([period, amount, period_to_date_spend])
      return found
    }

    verifies(
      [
        'usage/spend/reached',
        'usage/spend/limits',
        'usage/spend/shown',
        'webhooks/events/spend-limit',
      ],
      'a turn beyond the limit ends with an error that names it, and sessions go on when it is raised or the day is over',
      async () => {
        const endpoint = await newEndpoint(service, `${stub.url}/hook`, [
          'workspace.spend_limit_reached',
        ])
        const early = await newEndpoint(service, `${stub.url}/hook`, [
          'workspace.spend_limit_half_spent',
          'workspace.spend_limit_nearly_spent',
        ])
        const model = await pricedModel(service, stub, cost)
        const session = await newSession(service, { model })
        const daily = await limitOf({ period: 'daily', amount: '20' })
        stub.replies(says('one', usage))
        const first = await turn(service, session, 'go')
        assert.deepEqual(idleOf(first), { stop_reason: { type: 'end_turn' } })
        const refused = await turn(service, session, 'go')
        const error = JSON.stringify(only(refused, 'session.error')['error'])
        assert.match(error, /"type":"billing_error".*"retry_status":\{"type":"exhausted"\}/)
        assert.match(
          error,
          /the spend limit of this workspace, set by the workspace, is 20 US cents a day, and 20 are spent: its sessions go on from \d{4}-\d\d-\d\dT00:00:00/,
        )
        assert.deepEqual(idleOf(refused), { stop_reason: { type: 'retries_exhausted' } })
        assert.deepEqual(await effective(), [['daily', '20', '20']])
        const { body } = await service.ask<UsageReport>('GET', '/v1/ext/usage')
        assert.deepEqual(
          body.spend_limits.map((each) => each.period_to_date_spend),
          ['20'],
        )
        await limitOf({ amount: '40' }, `/${daily.id}`)
        const told = async () =>
          (await delivered(service, early.id, ({ length }) => length > 0)).map(
            ({ event_type: type }) => type,
          )
        const both = ['workspace.spend_limit_half_spent', 'workspace.spend_limit_nearly_spent']
        assert.deepEqual((await told()).toSorted(), both)
        stub.replies(says('two', usage))
        assert.equal(all(await turn(service, session, 'go'), 'session.error').length, 0)
        assert.deepEqual((await told()).toSorted(), [both[0], ...both], 'half of 40 are spent')
        assert.equal(all(await turn(service, session, 'go'), 'session.error').length, 1)
        assert.equal((await delivered(service, endpoint.id, ({ length }) => length >= 2)).length, 2)
        ahead += 86_400_000
        stub.replies(says('three', usage))
        assert.equal(all(await turn(service, session, 'go'), 'session.error').length, 0)
        assert.deepEqual(await effective(), [['daily', '40', '20']])
        await service.ask('DELETE', `${path}/${daily.id}`)
        assert.deepEqual(await effective(), [])
      },
    )

    verifies(
      'usage/spend/who',
      'the limit of the operator holds above that of the workspace, which cannot change it',
      async () => {
        const deps = { databases: service.databases, clock: systemClock }
        const { workspace, key } = await service.otherWorkspace('spenders')
        const caller = callerAt(service.base, key)
        const set = (amount: string) =>
          setSpendLimit(deps, { workspace, period: 'monthly', amount })
        await set('5')
        ahead += 15_000
        const { body } = await caller.ask<{ data: SpendLimit[] }>('GET', path)
        const id = body.data[0]?.id ?? ''
        for (const change of [{ amount: '500' }, { amount: null }, { is_enabled: false }])
          assert.equal((await caller.ask('POST', `${path}/${id}`, change)).status, 403)
        assert.equal((await caller.ask('DELETE', `${path}/${id}`)).status, 403)
        const own = { period: 'monthly', amount: '900' }
        assert.equal((await caller.ask('POST', path, own)).status, 200)
        const again = await caller.ask<SpendLimit>('POST', path, { ...own, amount: '800' })
        assert.deepEqual([again.status, again.body.amount], [200, '800'])
        assert.equal((await caller.ask('POST', path, own)).status, 200)
        const created = '/v1/ext/audit?action=spend_limit.create'
        const linesByKeys = async () => {
          const lines = await caller.ask<{ data: { actor: { type: string } }[] }>('GET', created)
          return lines.body.data.filter(({ actor }) => actor.type === 'api_key')
        }
        // When each tenant has a database, a job copies the line into the control database.
        await until(async () => (await linesByKeys()).length > 0)
        assert.equal((await linesByKeys()).length, 3, 'what was refused has no line')
        const shown = await caller.ask<{ data: { amount: string; set_by: string }[] }>(
          'GET',
          `${path}/effective?period[]=monthly`,
        )
        assert.deepEqual(
          shown.body.data.map(({ amount, set_by }) => [amount, set_by]),
          [['5', 'operator']],
        )
        for (const amount of ['-1', '1.5', '1e3', '123456789012', '01', ''])
          assert.equal((await caller.ask('POST', path, { ...own, amount })).status, 400, amount)
        assert.equal((await caller.ask('POST', path, { ...own, period: 'weekly' })).status, 400)
        await assert.rejects(set('-5'), /whole number of cents/)
        const plain = await caller.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'x' })
        assert.equal((await callerAt(service.base, plain.body.key).ask('GET', path)).status, 403)
      },
    )

    verifies(
      'webhooks/events/deployment-turn-failed',
      'webhooks report a failed turn of a deployment, and none of another session',
      async () => {
        const hook = await newEndpoint(service, `${stub.url}/hook`, ['deployment.turn_failed'])
        const model = await pricedModel(service, stub, cost)
        const { id: limit } = await limitOf({ period: 'daily', amount: '0' })
        const session = await newSession(service, { model })
        assert.equal(all(await turn(service, session, 'go'), 'session.error').length, 1)
        const agent = await service.client.beta.agents.create({ name: 'nightly', model })
        const environment = await service.client.beta.environments.create({ name: 'nightly' })
        const deployment = await service.client.beta.deployments.create({
          ...{ name: 'nightly', agent: agent.id, environment_id: environment.id },
          initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
        })
        const run = await service.ask('POST', `/v1/deployments/${deployment.id}/run`)
        const [told] = await delivered(service, hook.id, ({ length }) => length > 0)
        const { data } = JSON.parse(told?.body ?? '{}') as { data: Record<string, string> }
        assert.deepEqual([data['id'], data['session_id']], [deployment.id, run.body['session_id']])
        assert.equal((await delivered(service, hook.id, () => true)).length, 1)
        await service.ask('DELETE', `${path}/${limit}`)
      },
    )

    verifies(
      'usage/spend/priced',
      'a model without a price is not asked while a limit holds',
      async () => {
        const { id } = await limitOf({ period: 'monthly', amount: '100000' })
        const session = await newSession(service, { model: await unpricedModel(service, stub) })
        const seen = await turn(service, session, 'go')
        assert.match(
          JSON.stringify(only(seen, 'session.error')),
          /the model has no price.*set native_config\.cost of its model card \(0 where it costs nothing\)/,
        )
        await limitOf({ is_enabled: false }, `/${id}`)
        stub.replies(says('x', usage))
        assert.equal(all(await turn(service, session, 'go'), 'session.error').length, 0)
        await service.ask('DELETE', `${path}/${id}`)
      },
    )

    verifies(
      'usage/spend/free',
      'the offline model costs nothing, and runs while a limit holds',
      async () => {
        const { id } = await limitOf({ period: 'monthly', amount: '100000' })
        const session = await newSession(service)
        const seen = await turn(service, session, 'say: x')
        assert.equal(all(seen, 'session.error').length, 0)
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'end_turn' } })
        await service.ask('DELETE', `${path}/${id}`)
      },
    )
  })
