/** The server of an eval and of a deployment's runs is killed in the middle. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import type { DeploymentTriggerSecret as Trigger } from '@steward/protocol/deployment-triggers.ts'
import type { DeploymentRun } from '@steward/protocol/deployments.ts'
import type { Eval, EvalResult } from '@steward/protocol/evals.ts'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import { settingsIn, startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { message } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const samples = 16
/** Signed requests that the server is answering when it is killed. */
const deliveries = 40
/** Schedules that become due while the server is away. */
const schedules = 50

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`an eval and a deployment of a killed server on ${database}`, () => {
    verifies(
      ['evals/once', 'deployments/schedule/once'],
      'have each trial once, and a session for each delivery and each time of a schedule',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-evals-'))
        const env = {
          ...(await settingsIn(folder, database)),
          SANDBOX_PROVIDER: 'local',
          EGRESS_PROFILE: 'best_effort',
        }
        const first = await startServer(env)
        const before = clientsOf(first.base)
        const { body: agent } = await before.ask('POST', '/v1/agents', {
          name: 'a',
          model: 'offline',
          tools: [],
        })
        const { body: environment } = await before.ask('POST', '/v1/environments', { name: 'e' })
        const { body: run } = await before.ask<Eval>('POST', '/v1/ext/evals', {
          agent: agent.id,
          environment_id: environment.id,
          samples: Array.from({ length: samples }, (_, n) => ({
            input: [`say: ${n}`, 'say: done'],
          })),
          graders: [{ name: 'done', type: 'text', op: 'equals', value: 'done' }],
          max_concurrency: 4,
        })
        assert.ok(run.id, JSON.stringify(run))
        const path = `/v1/ext/evals/${run.id}`
        const deployment = await before.ask('POST', '/v1/deployments', {
          ...{ name: 'd', agent: agent.id, environment_id: environment.id },
          initial_events: [message('say: a')],
        })
        const trigger = `/v1/ext/deployments/${deployment.body.id}/trigger`
        const { body: made } = await before.ask<Trigger>('POST', `${trigger}_secret`)
        const search = new URL(made.url).search
        /** Returns the answer; undefined when the request broke off. */
        async function deliver(base: string, id: string): Promise<DeploymentRun | undefined> {
          const body = `of ${id}`
          const headers = signedHeaders({ id, body }, [made.secret], Date.now())
          const sent = fetch(base + trigger + search, { method: 'POST', headers, body })
          const answer = await sent.catch(() => undefined)
          return answer?.json().catch(() => undefined) as Promise<DeploymentRun | undefined>
        }
        for (let n = 0; n < schedules; n++) {
          const { status } = await before.ask('POST', '/openai/v1/agents/automations', {
            // The time lies ahead of each post, however slow the machine is.
            ...{ type: 'once', name: `${n}`, run_at: Math.ceil(Date.now() / 1000) + 2 },
            target: {
              ...{ type: 'new_session', agent_id: agent.id, environment: { type: 'none' } },
              input: [{ role: 'user', content: [{ type: 'input_text', text: `say: ${n}` }] }],
            },
          })
          assert.equal(status, 200)
        }
        const scheduled = '/v1/deployment_runs?limit=1000&trigger_type=schedule'
        const ids = (list: (string | null)[]) => new Set(list)
        const sent = Array.from({ length: deliveries }, (_, n) => `msg_${n}`)
        await until(async () => (await before.ask<Eval>('GET', path)).body.counts.passed > 2)
        await until(async () => (await before.ask('GET', scheduled)).body.data.length > 0)
        const cut = Promise.all(sent.map((id) => deliver(first.base, id)))
        const runs = `/v1/deployment_runs?limit=1000&deployment_id=${deployment.body.id}`
        await until(async () => (await before.ask('GET', runs)).body.data.length > 5)
        await first.kill()
        const answered = (await cut).filter((each) => each !== undefined)
        await using second = await startServer(env)
        const after = clientsOf(second.base)
        const again = await Promise.all(sent.map((id) => deliver(second.base, id)))
        const all = await after.ask<{ data: DeploymentRun[] }>('GET', runs)
        assert.equal(all.body.data.length, deliveries)
        for (const each of [...answered, ...again])
          assert.ok(all.body.data.some(({ id, error }) => id === each?.id && error === null))
        const deployed = `/v1/sessions?limit=1000&deployment_id=${deployment.body.id}`
        const theirs = await after.ask('GET', deployed)
        assert.deepEqual(
          theirs.body.data.map(({ id }) => id).toSorted(),
          all.body.data.map(({ session_id }) => session_id ?? '').toSorted(),
        )
        let due: DeploymentRun[] = []
        await until(async () => {
          due = (await after.ask<{ data: DeploymentRun[] }>('GET', scheduled)).body.data
          return due.length >= schedules
        })
        assert.equal(due.length, schedules)
        assert.equal(ids(due.map(({ deployment_id }) => deployment_id)).size, schedules)
        const theirSessions = ids(due.map(({ session_id }) => session_id))
        await until(async () => {
          const { body } = await after.ask('GET', '/v1/sessions?limit=1000')
          const idle = body.data.filter(
            ({ id, status }) => status === 'idle' && theirSessions.has(id),
          )
          return idle.length === schedules
        })
        let counts = run.counts
        await until(async () => {
          const { body } = await after.ask<Eval>('GET', path)
          counts = body.counts
          return body.status === 'completed'
        })
        assert.deepEqual([counts.total, counts.passed], [samples, samples])
        const results = await after.ask<{ data: EvalResult[] }>('GET', `${path}/results?limit=1000`)
        const list = await after.ask('GET', '/v1/sessions?limit=1000&include_archived=true')
        const trials = list.body.data.filter((each) => each['deployment_id'] === null)
        assert.equal(trials.length, samples)
        assert.deepEqual(
          ids(results.body.data.map(({ session_id }) => session_id)),
          ids(trials.map(({ id }) => id)),
        )
        for (const { id } of trials) {
          const log = await after.ask<{ type: string }[]>('GET', `/v1/sessions/${id}/log`)
          const messages = log.body.filter(({ type }) => type === 'user.message')
          assert.equal(messages.length, 2)
        }
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}
