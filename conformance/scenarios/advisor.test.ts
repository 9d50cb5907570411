import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { Stub } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { pricedModel } from '../priced.ts'
import { startServer } from '../process.ts'
import type { Clients, Service } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import { newTeam, says, starts, teamOf, uses } from '../team.ts'
import type { Seen } from '../turns.ts'
import { all, idleOf, only, post, say, textOf, turn, types } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { delivered, newEndpoint } from '../webhooks.ts'

/** The newest is the first. */
const threadsOf = ({ client }: Clients, session: string) =>
  Array.fromAsync(client.beta.sessions.threads.list(session))

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`an advisor, and threads that end, on ${database}`, () => {
    let service: Service
    let stub: Stub
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, { input: 1_000, output: 1_000 })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    verifies(
      ['threads/archive', 'threads/session-status', 'sessions/archive'],
      'nobody waits for a call of a child that is archived, or whose session is',
      async () => {
        const toolset = { type: 'agent_toolset_20260401' }
        const asks = { ...toolset, default_config: { permission_policy: { type: 'always_ask' } } }
        const waits = async () => {
          const session = await newTeam(service, model, [{ name: 'asker', tools: [asks] }])
          teamOf(stub, {
            boss: [starts(['asker', 'ask']), says('it works')],
            asker: [uses(['bash', { command: 'echo never' }])],
          })
          const { stop_reason: stop } = idleOf(await turn(service, session, 'go'))
          assert.match(JSON.stringify(stop), /requires_action/)
          const [asker] = await threadsOf(service, session)
          return { session, asker: asker?.id ?? '' }
        }
        const { threads } = service.client.beta.sessions
        const eventsAfterClosing = async ({
          session,
          asker,
        }: {
          session: string
          asker: string
        }) => {
          const own = await Array.fromAsync(threads.events.list(asker, { session_id: session }))
          const [result] = all(
            own.map((each) => ({ ...each }) as Seen),
            'agent.tool_result',
          )
          assert.match(JSON.stringify(result), /archived before this call/)
          return say(service, session)
        }
        const one = await waits()
        await threads.archive(one.asker, { session_id: one.session })
        assert.deepEqual(idleOf(await eventsAfterClosing(one)), {
          stop_reason: { type: 'end_turn' },
        })
        const other = await waits()
        await service.client.beta.sessions.archive(other.session)
        assert.deepEqual(types(await eventsAfterClosing(other)).slice(-2), [
          'session.thread_status_terminated',
          'session.status_terminated',
        ])
        const [ended] = await threadsOf(service, other.session)
        assert.deepEqual([ended?.status, typeof ended?.archived_at], ['terminated', 'string'])
      },
    )

    verifies(
      'webhooks/events/thread',
      'webhooks tell of the threads of a session, and name them',
      async () => {
        const kinds = ['created', 'idled', 'terminated'].map((each) => `session.thread_${each}`)
        // A stub of its own: the deliveries take no answer of the model's.
        await using hooks = await startStub(anthropicDialect)
        hooks.replies(says(''))
        const endpoint = await newEndpoint(service, `${hooks.url}/hook`, kinds)
        const multiagent = { type: 'coordinator', agents: [{ type: 'advisor', model }] }
        const session = await newTeam(service, model, [], { boss: { multiagent } })
        teamOf(stub, {
          boss: [uses(['consult_advisor', { question: 'left?' }]), says('left then')],
          advisor: [says('go left')],
        })
        await turn(service, session, 'go')
        const told = await delivered(service, endpoint.id, (each) => each.length === 4)
        const [advisor, primary] = await threadsOf(service, session)
        const data = told.map(({ body }) => JSON.parse(body).data)
        assert.deepEqual(
          data.map(({ type, session_thread_id: id }) => `${type} ${id}`).toSorted(),
          [
            ...kinds.map((kind) => `${kind} ${advisor?.id}`),
            `session.thread_idled ${primary?.id}`,
          ].toSorted(),
        )
        assert.ok(data.every(({ id }) => id === session))
      },
    )

    verifies(
      ['threads/advisor', 'agents/multiagent/advisor'],
      'an advisor answers one question in a thread of its own, and its failure is a result',
      async () => {
        const multiagent = { type: 'coordinator', agents: [{ type: 'advisor', model }] }
        const session = await newTeam(service, model, [], { boss: { multiagent } })
        const ask = uses(['consult_advisor', { question: 'left or right?' }])
        const asked = teamOf(stub, {
          boss: [ask, says('left then'), ask, says('I go on alone')],
          advisor: [says('go left'), { status: 400, error: 'invalid_request', message: 'no' }],
        })
        const seen = await turn(service, session, 'go')
        const [created, ...of] = seen.filter(({ session_thread_id: id }) => id !== undefined)
        assert.deepEqual(
          [created?.type, created?.['agent_name']],
          ['session.thread_created', 'anthropic.advisor'],
        )
        const ofAdvisor = of.filter(({ agent_name: name }) => name === 'anthropic.advisor')
        assert.deepEqual(
          types(ofAdvisor).map((each) => each.replace('session.thread_status_', '')),
          ['running', 'idle', 'terminated'],
        )
        assert.equal(textOf(only(seen, 'agent.thread_message_received')), 'go left')
        assert.match(JSON.stringify(asked['boss']?.[1]?.body['messages']), /go left/)
        const { tools, messages } = asked['advisor']?.[0]?.body ?? {}
        assert.deepEqual(
          [tools, JSON.stringify(messages).includes('left or right?')],
          [undefined, true],
        )
        const [advisor] = await threadsOf(service, session)
        assert.ok(advisor?.archived_at)
        assert.deepEqual(
          [advisor.agent, advisor.status, advisor.usage?.input_tokens],
          [{ type: 'advisor', model }, 'terminated', 150],
        )
        const whole = await service.client.beta.sessions.retrieve(session)
        assert.equal(whole.usage?.input_tokens, 450)
        const second = await turn(service, session, 'again')
        const result = only(second, 'agent.tool_result')
        assert.match(textOf(result), /the model of the advisor failed; go on without its advice/)
        assert.equal(textOf(all(second, 'agent.message').at(-1) ?? assert.fail()), 'I go on alone')
        assert.deepEqual(idleOf(second).stop_reason, { type: 'end_turn' })
      },
    )

    verifies(
      'threads/advisor',
      'an advisor whose server is killed answers the same question in the same thread',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-advisor-'))
        const env = {
          DATA_DIR: folder,
          SANDBOX_DIR: join(folder, 's'),
          SANDBOX_PROVIDER: 'local',
          EGRESS_PROFILE: 'best_effort',
          EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
          EGRESS_TENANT_TARGETS: '127.0.0.0/8:*,[::1]:*',
          ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
        }
        const first = await startServer(env)
        const own = clientsOf(first.base)
        const model = await pricedModel(own, stub, { input: 1_000, output: 1_000 })
        const multiagent = {
          ...{ type: 'multiagent_20261001', advisor: { type: 'enabled', model } },
          ...{ subagents: { type: 'disabled' }, workflows: { type: 'disabled' } },
        }
        const session = await newTeam(own, model, [], { boss: { multiagent } })
        const asked = teamOf(stub, {
          boss: [uses(['consult_advisor', { question: 'left or right?' }]), says('left then')],
          advisor: ['hang', says('go left')],
        })
        await post(own, session, 'go')
        await until(() => asked['advisor']?.length === 1)
        await first.kill()
        await using second = await startServer(env)
        const later = clientsOf(second.base)
        const log = async () => (await later.ask<Seen[]>('GET', `/v1/sessions/${session}/log`)).body
        await until(async () => (await log()).at(-1)?.type === 'session.status_idle')
        const seen = await log()
        assert.equal(textOf(only(seen, 'agent.thread_message_received')), 'go left')
        assert.equal(all(seen, 'session.thread_created').length, 1)
        assert.equal(all(seen, 'session.thread_status_terminated').length, 1)
        assert.deepEqual(
          [
            asked['boss']?.length,
            asked['advisor']?.length,
            (await threadsOf(later, session)).length,
          ],
          [2, 2, 2],
        )
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}
