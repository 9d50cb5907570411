import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import { NotFoundError } from '@anthropic-ai/sdk'
import { unheardOfModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type DeploymentParams = Parameters<Anthropic['beta']['deployments']['create']>[0]

const text = (words: string) => [{ type: 'text' as const, text: words }]
const daily = { type: 'cron', expression: '0 9 * * *', timezone: 'UTC' } as const
const says = (words: string) => ({ type: 'user.message' as const, content: text(`say: ${words}`) })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`deployments on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const beta = () => service.client.beta

    async function subject(model = 'offline') {
      const agent = await beta().agents.create({ name: fresh('agent'), model })
      const environment = await beta().environments.create({ name: fresh('environment') })
      return { agent: agent.id, environment_id: environment.id }
    }

    const deploy = async (more: Partial<DeploymentParams> = {}) =>
      beta().deployments.create({
        name: fresh('deployment'),
        ...(await subject()),
        initial_events: [says('hello')],
        ...more,
      })

    const rowOf = (id: string, { read } = service.tenantDatabase) =>
      read.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

    async function answerOf(session: string): Promise<string> {
      let answer = ''
      await until(async () => {
        for await (const event of beta().sessions.events.list(session))
          if (event.type === 'agent.message')
            answer = event.content.map((block) => ('text' in block ? block.text : '')).join('')
        return answer !== ''
      })
      return answer
    }

    /** Sets the schedule back, so that its time came a moment ago. */
    const setDue = (id: string, database = service.tenantDatabase) =>
      database.write((tx) =>
        tx
          .updateTable('deployments')
          .set({ next_ms: Date.now() - 120_000, due_ms: Date.now() })
          .where('id', '=', id)
          .execute(),
      )

    /** Makes the deployment due. A change of a scheduled deployment makes the server look for due schedules. */
    async function makeDue(id: string): Promise<void> {
      await setDue(id)
      await beta().deployments.update(id, { description: 'due' })
    }

    async function runsOf(deployment: string, count: number) {
      let found: Anthropic.Beta.BetaManagedAgentsDeploymentRun[] = []
      await until(async () => {
        found = (await beta().deploymentRuns.list({ deployment_id: deployment })).data
        return found.length >= count
      })
      return found
    }

    verifies(
      [
        'deployments/create',
        'deployments/get',
        'deployments/run',
        'deployments/runs/get',
        'deployments/session',
      ],
      'a deployment runs on request, and its session does what the deployment says',
      async () => {
        const made = await deploy({ metadata: { team: 'a' }, description: 'says hello' })
        assert.match(made.id, /^depl_/)
        assert.deepEqual(
          [made.status, made.schedule, made.paused_reason, made.agent.version],
          ['active', null, null, 1],
        )
        assert.deepEqual(await beta().deployments.retrieve(made.id), made)
        const run = await beta().deployments.run(made.id)
        assert.match(run.id, /^drun_/)
        assert.deepEqual(
          [run.deployment_id, run.trigger_context, run.error, run.agent],
          [made.id, { type: 'manual' }, null, made.agent],
        )
        assert.deepEqual(await beta().deploymentRuns.retrieve(run.id), run)
        const session = run.session_id ?? ''
        assert.equal(await answerOf(session), 'hello')
        const shown = await beta().sessions.retrieve(session)
        assert.deepEqual([shown.deployment_id, shown.title], [made.id, made.name])
      },
    )

    verifies(
      'sessions/list/deployment',
      'sessions are listed by the deployment that has created them',
      async () => {
        const made = await deploy()
        const { session_id } = await beta().deployments.run(made.id)
        const found = await beta().sessions.list({ deployment_id: made.id })
        assert.deepEqual(
          found.data.map(({ id }) => id),
          [session_id],
        )
        const none = await beta().sessions.list({ deployment_id: 'depl_of_nobody' })
        assert.deepEqual(none.data, [])
      },
    )

    verifies(
      ['deployments/schedule', 'deployments/schedule/once', 'deployments/runs/list'],
      'a schedule starts a run at its time, and only there',
      async () => {
        const schedule = {
          type: 'cron',
          expression: '* * * * *',
          timezone: 'Europe/Berlin',
        } as const
        const made = await deploy({ schedule })
        assert.equal(made.schedule?.upcoming_runs_at?.length, 5)
        assert.equal(made.schedule.last_run_at, null)
        await makeDue(made.id)
        const [run] = await runsOf(made.id, 1)
        assert.equal(run?.trigger_context.type, 'schedule')
        assert.equal(await answerOf(run?.session_id ?? ''), 'hello')
        const { schedule: after } = await beta().deployments.retrieve(made.id)
        assert.ok(after?.last_run_at)
        const paused = await beta().deployments.pause(made.id)
        assert.deepEqual([paused.status, paused.paused_reason], ['paused', { type: 'manual' }])
        assert.equal(paused.schedule?.upcoming_runs_at?.length, 5)
        const manual = await beta().deployments.run(made.id)
        assert.ok(manual.session_id)
        const by = await beta().deploymentRuns.list({
          deployment_id: made.id,
          trigger_type: 'manual',
          has_error: false,
        })
        assert.deepEqual(
          by.data.map(({ id }) => id),
          [manual.id],
        )
        const again = await beta().deployments.retrieve(made.id)
        assert.equal(again.schedule?.last_run_at, after.last_run_at)
      },
    )

    verifies(
      ['deployments/pause', 'deployments/unpause', 'deployments/archive', 'deployments/list'],
      'pausing stops a schedule, unpausing starts it anew, and archiving ends it',
      async () => {
        const of = await subject()
        const schedule = { type: 'cron', expression: '0 9 * * 1-5', timezone: 'UTC' } as const
        const made = await deploy({ ...of, schedule })
        const ids = async (query: object) =>
          (await beta().deployments.list({ agent_id: of.agent, ...query })).data.map(({ id }) => id)
        await beta().deployments.pause(made.id)
        assert.deepEqual(await ids({ status: 'paused' }), [made.id])
        assert.deepEqual(await ids({ status: 'active' }), [])
        const at = made.created_at
        assert.deepEqual(await ids({ 'created_at[gte]': at, 'created_at[lte]': at }), [made.id])
        assert.deepEqual(await ids({ 'created_at[lte]': '2020-01-01T00:00:00Z' }), [])
        const active = await beta().deployments.unpause(made.id)
        assert.deepEqual([active.status, active.paused_reason], ['active', null])
        const archived = await beta().deployments.archive(made.id)
        assert.deepEqual(
          [archived.status, archived.schedule?.upcoming_runs_at, Boolean(archived.archived_at)],
          ['active', [], true],
        )
        assert.deepEqual(await beta().deployments.archive(made.id), archived)
        assert.deepEqual(await ids({}), [])
        assert.deepEqual(await ids({ include_archived: true }), [made.id])
        await assert.rejects(beta().deployments.run(made.id), /archived and runs no more/)
        await assert.rejects(beta().deployments.unpause(made.id), /archived/)
        await assert.rejects(ids({ status: 'active', include_archived: true }), /include_archived/)
      },
    )

    verifies(
      'deployments/update',
      'an update keeps the fields that it omits, and replaces or clears the fields that it names',
      async () => {
        const made = await deploy({
          schedule: daily,
          metadata: { a: '1', b: '2' },
          description: 'old',
        })
        await service.ask('POST', `/v1/agents/${made.agent.id}`, { version: 1, description: 'b' })
        const updated = await beta().deployments.update(made.id, {
          agent: made.agent.id,
          metadata: { a: null, c: '3' },
          description: '',
          schedule: null,
        })
        assert.deepEqual(
          [updated.agent.version, updated.metadata, updated.description, updated.schedule],
          [2, { b: '2', c: '3' }, null, null],
        )
        assert.deepEqual([updated.name, updated.initial_events], [made.name, [says('hello')]])
        await assert.rejects(
          beta().deployments.update(made.id, { environment_id: 'env_of_nobody' }),
          NotFoundError,
        )
      },
    )

    verifies(
      ['deployments/failed', 'deployments/paused-by-error', 'deployments/workspace-archived'],
      'a missing part makes a run with an error, which pauses the deployment',
      async () => {
        const made = await deploy({
          schedule: { type: 'cron', expression: '* * * * *', timezone: 'UTC' },
        })
        await beta().environments.archive(made.environment_id)
        await makeDue(made.id)
        const [run] = await runsOf(made.id, 1)
        assert.deepEqual([run?.session_id, run?.error?.type], [null, 'environment_archived_error'])
        assert.match(run?.error?.message ?? '', /archived/)
        const paused = await beta().deployments.retrieve(made.id)
        assert.deepEqual(
          [paused.status, paused.paused_reason],
          ['paused', { type: 'error', error: { type: 'environment_archived_error' } }],
        )
        const failed = await beta().deploymentRuns.list({ deployment_id: made.id, has_error: true })
        assert.equal(failed.data.length, 1)

        const { workspace } = await service.otherWorkspace(fresh('archived'))
        const theirs = { tenant_id: workspace, id: 'depl_archived', paused_reason: null }
        const row = { ...(await rowOf(made.id)), ...theirs }
        const change = { archived_at: row.created_at }
        await service.database.write((tx) =>
          tx.updateTable('workspaces').set(change).where('id', '=', workspace).execute(),
        )
        const theirDatabase = await service.databases.open(workspace)
        await theirDatabase.write((tx) => tx.insertInto('deployments').values(row).execute())
        await setDue(theirs.id, theirDatabase)
        await makeDue((await deploy({ schedule: daily })).id)
        const archived = async () =>
          JSON.stringify((await rowOf(theirs.id, theirDatabase)).paused_reason)
        await until(async () => (await archived()).includes('workspace_archived_error'))
      },
    )

    verifies(
      ['deployments/checked', 'deployments/limit'],
      'a deployment that could create no session is refused at once, and schedules are limited',
      async () => {
        const { key } = await service.otherWorkspace(fresh('other'))
        const theirs = await service.ask('POST', '/v1/vaults', { name: 'a' }, { 'x-api-key': key })
        await assert.rejects(deploy({ vault_ids: [theirs.body.id] }), NotFoundError)
        const memory = { type: 'memory_store', memory_store_id: 'memstore_of_nobody' } as const
        await assert.rejects(deploy({ resources: [memory] }), NotFoundError)
        const budget = { type: 'limit', max_list_cost: { amount: '5', currency: 'USD' } } as const
        const unpriced = await subject(await unheardOfModel(service))
        await assert.rejects(deploy({ ...unpriced, budget }), /has no price/)
        const system = { type: 'system.message' as const, content: text('a') }
        await assert.rejects(deploy({ initial_events: [system] }), /directly behind a user.message/)
        const last = async () => (await beta().sessions.list({ limit: 1 })).data[0]?.id
        const before = await last()
        const made = await deploy({ schedule: daily, initial_events: [says('a'), system] })
        assert.equal(await last(), before)
        const row = await rowOf(made.id)
        const many = Array.from({ length: 1_000 }, (_, index) => ({
          ...row,
          id: `depl_${index}`,
          due_ms: null,
        }))
        for (let at = 0; at < many.length; at += 100)
          await service.tenantDatabase.write((tx) =>
            tx
              .insertInto('deployments')
              .values(many.slice(at, at + 100))
              .execute(),
          )
        await assert.rejects(deploy({ schedule: daily }), /at most 1000 deployments/)
        await service.tenantDatabase.write((tx) =>
          tx
            .deleteFrom('deployments')
            .where(
              'id',
              'in',
              many.map(({ id }) => id),
            )
            .execute(),
        )
        const run = await beta().deployments.run(made.id)
        assert.equal(await answerOf(run.session_id ?? ''), 'a')
      },
    )

    verifies(
      'webhooks/events/deployment',
      'webhooks report deployments and their scheduled runs',
      async () => {
        const { body: hook } = await service.ask('POST', '/v1/ext/webhook_endpoints', {
          url: 'https://hooks.example/deployments',
          enabled_events: ['*'],
        })
        const schedule = { type: 'cron', expression: '* * * * *', timezone: 'UTC' } as const
        const made = await deploy({ schedule })
        await makeDue(made.id)
        const [run] = await runsOf(made.id, 1)
        await beta().deployments.run(made.id)
        await beta().deployments.pause(made.id)
        await beta().deployments.unpause(made.id)
        await beta().deployments.archive(made.id)
        const rows = await service.tenantDatabase.read
          .selectFrom('webhook_deliveries')
          .select(['kind', 'body'])
          .where('endpoint_id', '=', hook.id)
          .where('kind', 'like', 'deployment%')
          .orderBy('id')
          .execute()
        const ended = ['deployment_run.started', 'deployment_run.succeeded']
        const changed = ['paused', 'unpaused', 'archived']
        assert.deepEqual(
          rows.map(({ kind }) => kind),
          [
            ...['deployment.created', 'deployment.updated'],
            ...ended,
            ...changed.map((end) => `deployment.${end}`),
          ],
        )
        const { data } = JSON.parse(rows[2]?.body ?? '{}') as { data: { id: string } }
        assert.equal(data.id, run?.id)
        await service.ask('DELETE', `/v1/ext/webhook_endpoints/${hook.id}`)
      },
    )

    verifies(
      'deployments/agent-archived',
      'the deployments of an archived agent are archived with it',
      async () => {
        const made = await deploy()
        await beta().agents.archive(made.agent.id)
        const after = await beta().deployments.retrieve(made.id)
        assert.ok(after.archived_at)
      },
    )

    verifies(
      'deployments/refused',
      'an expression or a zone that is none is refused by its name',
      async () => {
        for (const [expression, timezone, words] of [
          ['@daily', 'UTC', /schedule\.expression.*five fields/],
          ['0 0 L * *', 'UTC', /day of the month/],
          ['0 0 * * MON', 'UTC', /day of the week/],
          ['0 24 * * *', 'UTC', /hour: must lie between 0 and 23/],
          ['0 0 31 2 *', 'UTC', /schedule\.expression: matches no date/],
          ['0 0 * * *', 'Mars/Olympus', /schedule\.timezone.*time zone/],
          ['0 0 * * *', '+01:00', /schedule\.timezone/],
        ] as const)
          await assert.rejects(
            deploy({ schedule: { type: 'cron', expression, timezone } }),
            words,
            expression,
          )
      },
    )

    verifies(
      'deployments/tokens',
      'the token of a repository is sealed, shown by nothing, and given to each session',
      async () => {
        const token = 'ghp_canary_of_a_deployment'
        const url = 'https://github.com/example/project'
        const made = await deploy({
          resources: [{ type: 'github_repository', url, authorization_token: token }],
        })
        assert.deepEqual(made.resources, [{ type: 'github_repository', url }])
        const row = await rowOf(made.id)
        assert.ok(!JSON.stringify(row).includes(token))
        for (const _ of [1, 2]) {
          const { session_id } = await beta().deployments.run(made.id)
          const resource = await service.tenantDatabase.read
            .selectFrom('session_resources')
            .select('sealed_token')
            .where('session_id', '=', session_id ?? '')
            .executeTakeFirstOrThrow()
          assert.ok(resource.sealed_token)
        }
      },
    )
  })
}
