/** Automations and webhooks of `/openai/v1`, by its unmodified client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { BadRequestError, NotFoundError } from 'openai'
import { openaiWebhookKinds } from '@steward/protocol/webhooks.ts'
import { startTestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { newestOpenAI, oldestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { hooks, newEndpoint } from '../webhooks.ts'

const says = (text: string) => [
  { role: 'user' as const, content: [{ type: 'input_text' as const, text }] },
]
const tomorrow = () => Math.floor(Date.now() / 1000) + 86_400

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`automations and webhooks of the OpenAI surface on ${database}`, () => {
    let service: TestService
    let openai: OpenAI
    let agents: OpenAI['beta']['agents']
    let agent: OpenAI.Beta.Agent
    before(async () => {
      service = await boot(database)
      openai = newestOpenAI(service)
      agents = openai.beta.agents
      agent = await agents.create({ model: 'offline', name: fresh('agent') })
    })
    after(() => service.close())

    const answerOf = async (session: string) => {
      let text = ''
      await until(async () => {
        for await (const item of agents.sessions.items.list(session))
          if (item.type === 'message' && item.role === 'assistant')
            text = item.content.map((part) => ('text' in part ? part.text : '')).join('')
        return text !== ''
      })
      return text
    }

    /** Makes the automation due. A change makes the server look for due schedules. */
    async function makeDue(id: string): Promise<void> {
      await service.tenantDatabase.write((tx) =>
        tx
          .updateTable('deployments')
          .set({ next_ms: Date.now() - 60_000, due_ms: Date.now() })
          .where('id', '=', id)
          .execute(),
      )
      await agents.automations.update(id, { name: fresh('due') })
    }

    async function runsOf(id: string, count: number) {
      const found: OpenAI.Beta.Agents.Automations.AutomationInvocation[] = []
      await until(async () => {
        found.length = 0
        for await (const each of agents.automations.invocations.list(id, { limit: 1 }))
          found.push(each)
        return found.length >= count
      })
      return found
    }

    verifies(
      [
        'openai/automations/create',
        'openai/automations/get',
        'openai/automations/list',
        'openai/automations/update',
        'openai/automations/delete',
        'openai/automations/pause',
        'openai/automations/resume',
        'openai/automations/new-session',
        'openai/invocations/create',
        'openai/invocations/get',
      ],
      'a periodic automation is made, changed, paused, run by a request and deleted',
      async () => {
        const made = await agents.automations.create({
          ...{ type: 'periodic', name: 'report', expression: '0 9 * * 1-5', timezone: 'UTC' },
          metadata: { team: 'a', more: 'b' },
          target: {
            type: 'new_session',
            agent_id: agent.id,
            environment: { type: 'openai_hosted', env: { WORD: 'automated' } },
            input: says('run: echo $WORD'),
            metadata: { from: 'automation' },
          },
        })
        assert.equal(made.type, 'periodic')
        assert.equal(made.status, 'active')
        assert.equal(made.target.type, 'new_session')
        assert.deepEqual(made.target.input, [{ type: 'message', ...says('run: echo $WORD')[0] }])
        assert.deepEqual(await agents.automations.retrieve(made.id), made)
        assert.equal((await agents.automations.pause(made.id)).status, 'paused')
        const run = await agents.automations.invocations.create(made.id)
        assert.deepEqual(
          [run.status, run.error, run.source],
          ['completed', null, { type: 'manual' }],
        )
        const found = await agents.automations.invocations.retrieve(run.id, {
          automation_id: made.id,
        })
        assert.deepEqual(found, run)
        assert.match(await answerOf(run.session_id ?? ''), /automated/)
        const session = await agents.sessions.retrieve(run.session_id ?? '')
        assert.deepEqual(session.metadata, { from: 'automation' })
        assert.equal((await agents.automations.resume(made.id)).status, 'active')
        const changed = await agents.automations.update(made.id, {
          expression: '30 8 * * *',
          metadata: { team: 'c' },
          target: {
            type: 'new_session',
            agent_id: agent.id,
            environment: { type: 'none' },
            input: says('say: changed'),
          },
        })
        assert.equal(changed.type, 'periodic')
        assert.deepEqual([changed.expression, changed.timezone], ['30 8 * * *', 'UTC'])
        assert.deepEqual(changed.metadata, { team: 'c' })
        assert.equal(changed.target.type, 'new_session')
        assert.deepEqual(changed.target.environment, { type: 'none' })
        const again = await agents.automations.invocations.create(made.id)
        assert.equal(await answerOf(again.session_id ?? ''), 'changed')
        const ids: string[] = []
        for await (const { id } of agents.automations.list({ limit: 1 })) ids.push(id)
        assert.deepEqual(ids, [made.id])
        const kept = await service.client.beta.deployments.retrieve(made.id)
        assert.equal(kept.schedule?.expression, '30 8 * * *')
        assert.equal((await agents.automations.delete(made.id)).deleted, true)
        await assert.rejects(agents.automations.retrieve(made.id), NotFoundError)
        await assert.rejects(agents.automations.invocations.create(made.id), NotFoundError)
      },
    )

    verifies(
      [
        'openai/automations/once',
        'openai/automations/existing-session',
        'openai/automations/list',
        'openai/invocations/list',
      ],
      'an automation runs once, at its time, into a session that is there',
      async () => {
        const session = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: { type: 'openai_hosted' } },
        })
        const target = {
          type: 'existing_session',
          session_id: session.id,
          instructions: 'say: at last',
        } as const
        const run_at = tomorrow()
        const made = await agents.automations.create({
          type: 'once',
          name: 'later',
          run_at,
          target,
        })
        assert.equal(made.type, 'once')
        assert.deepEqual([made.run_at, made.status, made.target], [run_at, 'active', target])
        await agents.automations.create({
          ...{ type: 'once', name: 'other', run_at },
          target: {
            type: 'new_session',
            agent_id: agent.id,
            environment: { type: 'none' },
            input: says(`"session_id":"${session.id}"`),
          },
        })
        const ofSession = await agents.automations.list({ session_id: session.id })
        assert.deepEqual(
          ofSession.data.map(({ id }) => id),
          [made.id],
        )
        const moved = await agents.automations.update(made.id, { run_at: run_at + 60 })
        assert.equal(moved.type === 'once' && moved.run_at, run_at + 60)
        await makeDue(made.id)
        const [run] = await runsOf(made.id, 1)
        assert.equal(run?.status, 'completed', JSON.stringify(run))
        assert.equal(run.session_id, session.id)
        assert.ok(run.scheduled_at)
        assert.equal(run.source.type === 'automation' && run.source.automation.id, made.id)
        assert.equal(await answerOf(session.id), 'at last')
        const done = await agents.automations.retrieve(made.id)
        assert.equal(done.status, 'completed')
        await agents.sessions.delete(session.id)
        const late = await agents.automations.invocations.create(made.id)
        assert.equal(late.status, 'failed')
        assert.equal(late.error?.code, 'session_resource_not_found_error')
      },
    )

    verifies(
      'openai/automations/create',
      'automations without a sandbox that are made at once are all made, in one environment',
      async () => {
        const { key } = await service.otherWorkspace(fresh('first-automations'))
        const { agents: other } = newestOpenAI(service, key).beta
        const { id: agent_id } = await other.create({ model: 'offline' })
        const environment = { type: 'none' } as const
        const target = { type: 'new_session', agent_id, environment, input: says('x') } as const
        const made = await Promise.all(
          Array.from({ length: 4 }, (_, at) =>
            other.automations.create({
              ...{ type: 'once', name: `automation ${at}`, run_at: tomorrow() },
              target,
            }),
          ),
        )
        assert.equal(made.length, 4)
        const { data } = await other.environments.list()
        assert.equal(data.length, 1)
      },
    )

    verifies(
      ['openai/automations/create', 'openai/automations/update', 'openai/refusals'],
      'a field that automations do not support is refused by its name',
      async () => {
        const inSession = { type: 'existing_session', instructions: 'x' } as const
        const own = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: { type: 'openai_hosted' } },
        })
        const target = { ...inSession, session_id: own.id }
        const past = { type: 'once', name: 'x', run_at: 1, target } as const
        const refused = (made: Promise<unknown>, param: string) =>
          assert.rejects(
            made,
            (error: unknown) => error instanceof BadRequestError && error.param === param,
          )
        await refused(agents.automations.create(past), 'run_at')
        const base = { type: 'periodic', name: 'x', timezone: 'UTC' } as const
        await refused(
          agents.automations.create({ ...base, expression: 'hourly', target }),
          'expression',
        )
        await refused(
          agents.automations.create({ ...base, expression: '0 0 31 2 *', target }),
          'expression',
        )
        const inline = {
          type: 'new_session' as const,
          agent: { model: 'offline' },
          agent_id: agent.id,
          environment: { type: 'none' as const },
          input: says('x'),
        }
        await refused(
          agents.automations.create({ ...base, expression: '0 9 * * *', target: inline }),
          'target.agent',
        )
        const never = { ...inSession, session_id: `sesn_${'0'.repeat(32)}` }
        const absent = agents.automations.create({
          ...base,
          expression: '0 9 * * *',
          target: never,
        })
        await assert.rejects(absent, NotFoundError)
        const environments = async () =>
          (await Array.fromAsync(agents.environments.list())).map(({ id }) => id)
        const before = await environments()
        const described = {
          type: 'new_session' as const,
          agent_id: agent.id,
          environment: { type: 'openai_hosted' as const, env: { WORD: 'x' } },
          input: says('say: x'),
        }
        const periodic = { ...base, expression: '0 9 * * *' }
        const unknown = { ...described, vault_ids: ['vlt_none'] }
        await assert.rejects(
          agents.automations.create({ ...periodic, target: unknown }),
          /vlt_none/,
        )
        const kept = await agents.automations.create({ ...periodic, target: described })
        await assert.rejects(agents.automations.update(kept.id, { target: unknown }), /vlt_none/)
        assert.equal((await environments()).length, before.length + 1)
        const made = await agents.automations.create({ ...base, expression: '0 9 * * *', target })
        await refused(agents.automations.update(made.id, { run_at: tomorrow() }), 'run_at')
      },
    )

    verifies(
      ['openai/webhooks', 'openai/webhooks/events', 'openai/webhooks/data'],
      'the client unwraps the deliveries that an endpoint gets of a session',
      async () => {
        await using there = await startTestEndpoint()
        const { secret } = await newEndpoint(service, there.url, [...openaiWebhookKinds])
        const heard = async (type: string, session: string) => {
          let found: OpenAI.Webhooks.UnwrapWebhookEvent | undefined
          await until(async () => {
            for (const { body, headers } of there.letters) {
              const event = await openai.webhooks.unwrap(body, headers, secret)
              if (event.type === type && 'id' in event.data && event.data.id === session)
                found = event
            }
            return found !== undefined
          })
          assert.ok(found)
          assert.equal(found.object, 'event')
          assert.ok(Math.abs(found.created_at - Date.now() / 1000) < 60)
          return found.data
        }
        const stream = await agents.sessions.create({
          agent: {
            model: 'offline',
            tools: [{ type: 'function', name: 'price_of', description: 'x', parameters: {} }],
          },
          environment: { type: 'openai_hosted' },
          input: 'call price_of {}',
          stream: true,
          toolHandlers: {
            // The client answers only when the session waits. After an earlier answer the turn goes on and never
            // reports that it waits.
            async price_of() {
              const newest = async () => (await agents.sessions.list({ limit: 1 })).data[0]
              await until(async () => (await newest())?.status === 'requires_action')
              return '3'
            },
          },
        })
        const { session_id: id } = await stream.finalResult()
        const { environment } = await agents.sessions.retrieve(id)
        assert.ok(environment.type === 'openai_hosted')
        const of = { id, environment_type: 'openai_hosted', environment_id: environment.id }
        for (const word of ['created', 'in_progress', 'idle'])
          assert.deepEqual(await heard(`agent.session.${word}`, id), of)
        assert.deepEqual(await heard('agent.session.action_required', id), {
          id,
          required_action: { type: 'function_call' },
        })
        const asks = { default_config: { permission_policy: { type: 'always_ask' } } }
        const asking = await newSession(service, {
          tools: [{ type: 'agent_toolset_20260401', ...asks }],
        })
        await turn(service, asking, 'run: echo hi')
        assert.deepEqual(await heard('agent.session.action_required', asking), {
          id: asking,
          required_action: { type: 'mcp_approval_request' },
        })
        const older = oldestOpenAI(service)
        const [letter] = there.letters
        assert.ok(letter)
        const unwrapped = await older.webhooks.unwrap(letter.body, letter.headers, secret)
        assert.match(unwrapped.type, /^agent\.session\./)
        const ofOlder = older.beta.agents.sessions
        const idsOf = async (list: AsyncIterable<{ id: string | null }>) =>
          (await Array.fromAsync(list)).map((each) => each.id)
        for (const { turns, items } of [ofOlder, agents.sessions]) {
          assert.equal((await idsOf(turns.list(id, { limit: 1 }))).length, 1)
          assert.equal((await idsOf(items.list(id, { limit: 1 }))).length, 4)
        }
        assert.deepEqual(await idsOf(ofOlder.subagents.list(id)), [])
        await service.client.beta.sessions.archive(id)
        assert.deepEqual(await heard('agent.session.failed', id), of)
        const idle = there.letters.filter(({ body }) => body.includes('agent.session.idle'))
        assert.ok(idle.every(({ body }) => !body.includes(asking)))
        const url = there.url
        const refused = await service.ask('POST', hooks, {
          ...{ url, enabled_events: ['agent.environment.ready'] },
        })
        assert.equal(refused.status, 400)
      },
    )
  })
}
