import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { NotFoundError } from '@anthropic-ai/sdk'
import { startHeldModel } from '../held-model.ts'
import { untilIdle } from '../reader.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, fresh, message } from '../turns.ts'
import { only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const toolset = { type: 'agent_toolset_20260401' } as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`creating sessions on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const sessions = () => service.client.beta.sessions
    const agents = () => service.client.beta.agents
    const agentId = async (more: object = {}) =>
      (await agents().create({ name: fresh('agent'), model: 'offline', ...more })).id
    const environment = async (more: object = {}) =>
      (await service.ask('POST', '/v1/environments', { name: fresh('env'), ...more })).body.id
    const seed = (body: object) => service.ask('POST', '/v1/sessions', body)

    verifies(
      [
        'sessions/create',
        'sessions/get',
        'sessions/create/agent-id',
        'sessions/create/environment-id',
        'sessions/create/title',
        'sessions/create/metadata',
        'sessions/field/id',
        'sessions/field/agent-id',
        'sessions/field/agent-version',
        'sessions/field/agent',
        'sessions/field/environment-id',
        'sessions/field/title',
        'sessions/field/metadata',
        'sessions/field/resources',
        'sessions/field/vault-ids',
        'sessions/field/usage',
        'sessions/field/stats',
        'sessions/field/times',
        'sessions/field/archived-at',
        'service/sessions/pinned',
      ],
      'a session shows what it was made from',
      async () => {
        const agent = await agentId({ system: 'Be brief.' })
        const environment_id = await environment()
        const made = await sessions().create({
          agent,
          environment_id,
          title: 'a title',
          metadata: { a: '1' },
        })
        assert.match(made.id, /^sesn_/)
        const { agent_id, agent_version } = { agent_id: '', agent_version: 0, ...made }
        assert.deepEqual([agent_id, agent_version], [agent, 1])
        assert.deepEqual(
          [made.agent.id, made.agent.version, made.agent.system, made.agent.skills],
          [agent, 1, 'Be brief.', []],
        )
        assert.deepEqual(
          [made.title, made.metadata, made.resources, made.vault_ids, made.archived_at],
          ['a title', { a: '1' }, [], [], null],
        )
        assert.equal(made.usage.output_tokens, 0)
        assert.equal(typeof made.stats.duration_seconds, 'number')
        assert.equal(made.created_at, made.updated_at)
        const { stats: _, ...got } = await sessions().retrieve(made.id)
        const { stats: __, ...expected } = made
        assert.deepEqual(got, expected)
        assert.equal((await seed({ agent })).status, 400)
        const withOne = await agentId({ environment_id })
        assert.equal((await seed({ agent: withOne })).body['environment_id'], environment_id)
      },
    )

    verifies(
      [
        'sessions/create/agent-version',
        'sessions/create/pinned',
        'versions/session-pins',
        'agents/archive/sessions-go-on',
      ],
      'a session keeps its agent version, whatever happens to the agent',
      async () => {
        const agent = await agentId({ system: 'first' })
        const environment_id = await environment()
        const latest = await sessions().create({ agent, environment_id })
        await agents().update(agent, { version: 1, system: 'second' })
        const pinned = await sessions().create({
          agent: { type: 'agent', id: agent, version: 1 },
          environment_id,
        })
        const newest = await sessions().create({
          agent: { type: 'agent', id: agent },
          environment_id,
        })
        await agents().archive(agent)
        const systems = await Promise.all(
          [latest, pinned, newest].map(
            async ({ id }) => (await sessions().retrieve(id)).agent.system,
          ),
        )
        assert.deepEqual(systems, ['first', 'first', 'second'])
        const seen = await turn(service, latest.id, 'say: still here')
        assert.equal(textOf(only(seen, 'agent.message')), 'still here')
        const missing = { agent: { type: 'agent', id: agent, version: 9 } as const, environment_id }
        await assert.rejects(sessions().create(missing), NotFoundError)
      },
    )

    verifies(
      ['sessions/create/agent-overrides', 'sessions/create/override-clears'],
      'an override replaces a whole field of this session, and the agent stays as it was',
      async () => {
        const agent = await agentId({ system: 'old', tools: [toolset, custom] })
        const environment_id = await environment()
        const choice = { type: 'agent_with_overrides', id: agent } as const
        const one = await sessions().create({
          agent: { ...choice, tools: [custom], model: 'other-model' },
          environment_id,
        })
        assert.deepEqual(
          one.agent.tools.map(({ type }) => type),
          ['custom'],
        )
        assert.deepEqual([one.agent.model.id, one.agent.system], ['other-model', 'old'])
        const none = await sessions().create({
          agent: { ...choice, tools: [], system: null },
          environment_id,
        })
        assert.deepEqual([none.agent.tools, none.agent.system], [[], null])
        const kept = await agents().retrieve(agent)
        assert.deepEqual([kept.version, kept.system, kept.tools.length], [1, 'old', 2])
      },
    )

    verifies(
      ['sessions/create/agent-overrides'],
      'the model of an override is whole: nothing of the model of the agent stays',
      async () => {
        const agent = await agentId({ model: { id: 'offline', effort: 'high', speed: 'fast' } })
        const environment_id = await environment()
        const modelOf = async (model: string | { id: string; effort?: 'low' }) => {
          const choice = { type: 'agent_with_overrides', id: agent, model } as const
          return (await sessions().create({ agent: choice, environment_id })).agent.model
        }
        const plain = { id: 'offline', speed: 'standard' }
        assert.deepEqual(await modelOf('offline'), plain)
        assert.deepEqual(await modelOf({ id: 'offline' }), plain)
        const low = await modelOf({ id: 'offline', effort: 'low' })
        assert.deepEqual(low, { ...plain, effort: { type: 'low' } })
      },
    )

    verifies(
      ['sessions/create/override-clears', 'sessions/update'],
      'the tools of a session with skills are not cleared, neither by an override nor by an update',
      async () => {
        const skills = [{ type: 'anthropic', skill_id: 'xlsx' } as const]
        const [skilled, plain] = [
          await agentId({ skills, tools: [toolset] }),
          await agentId({ tools: [toolset] }),
        ]
        const environment_id = await environment()
        const create = (id: string, more: object) =>
          seed({ agent: { type: 'agent_with_overrides', id, ...more }, environment_id })
        const cleared = [
          await create(skilled, { tools: null }),
          await create(skilled, { tools: [] }),
          await create(plain, { tools: [], skills }),
        ]
        for (const { status, body } of cleared) {
          assert.equal(status, 400)
          assert.match(JSON.stringify(body), /agent\.tools: .*agent\.skills/)
        }
        assert.equal((await create(skilled, { tools: null, skills: [] })).status, 200)
        assert.equal((await create(skilled, { tools: [custom] })).status, 200)
        assert.equal((await create(await agentId({ skills }), { system: 'x' })).status, 200)
        const { body } = await create(skilled, {})
        const update = sessions().update(body.id, { agent: { tools: [] } })
        await assert.rejects(update, /agent\.tools: /)
      },
    )

    verifies(
      [
        'sessions/create/initial-events',
        'sessions/create/initial-events-run',
        'limits/initial-events',
        'sessions/status/pending',
        'sessions/status/running',
        'sessions/status/idle',
      ],
      'a session with initial events runs at once, handles them in order, and takes 50',
      async () => {
        const agent = await agentId()
        const at = { agent, environment_id: await environment() }
        const waiting = await seed(at)
        assert.equal(waiting.body['status'], 'pending')
        assert.equal((await sessions().retrieve(waiting.body.id)).status, 'idle')
        await using held = await startHeldModel(service, 'three')
        const texts = ['one', 'two']
        const begun = await seed({
          ...{ ...at, agent: await agentId({ model: held.model }) },
          initial_events: texts.map((text) => message(text)),
        })
        assert.equal(begun.body['status'], 'running')
        assert.equal((await sessions().retrieve(begun.body.id)).status, 'running')
        held.release()
        const seen = await untilIdle(service, begun.body.id)
        assert.deepEqual(all(seen, 'user.message').map(textOf), texts)
        assert.equal(
          (await service.ask('GET', `/v1/sessions/${begun.body.id}`)).body['status'],
          'idle',
        )
        const many = (count: number) => Array.from({ length: count }, () => message('say: x'))
        assert.equal((await seed({ ...at, initial_events: many(50) })).status, 200)
        assert.equal((await seed({ ...at, initial_events: many(51) })).status, 400)
      },
    )

    verifies(
      'sessions/create/all-or-nothing',
      'a refused initial event creates no session',
      async () => {
        const agent = await agentId()
        const environment_id = await environment()
        const image = { type: 'image', source: { type: 'file', file_id: 'f' } }
        for (const [bad, status] of [
          [{ type: 'user.interrupt' }, 400],
          [{ type: 'user.message', content: [] }, 400],
          [{ type: 'user.define_outcome', description: 'x' }, 400],
          [{ type: 'user.message', content: [image] }, 404],
        ] as const) {
          const initial_events = [message('say: x'), bad]
          assert.equal((await seed({ agent, environment_id, initial_events })).status, status)
        }
        const { body } = await service.ask('GET', `/v1/sessions?agent_id=${agent}`)
        assert.deepEqual(body.data, [])
      },
    )

    verifies(
      ['sessions/create/unusable-parts', 'agents/archive/read-only'],
      "an archived agent and another tenant's parts are refused",
      async () => {
        const agent = await agentId()
        const environment_id = await environment()
        const { key } = await service.otherWorkspace('stranger')
        const foreign = { 'x-api-key': key }
        const body = { name: 'theirs', model: 'offline', tools: [] }
        const theirs = (await service.ask('POST', '/v1/agents', body, foreign)).body.id
        const foreignEnvironment = (
          await service.ask('POST', '/v1/environments', { name: 'e' }, foreign)
        ).body.id
        assert.equal((await seed({ agent: theirs, environment_id })).status, 404)
        assert.equal((await seed({ agent, environment_id: foreignEnvironment })).status, 404)
        await agents().archive(agent)
        assert.equal((await seed({ agent, environment_id })).status, 400)
      },
    )

    verifies(
      'sessions/not-yet/base-image',
      'a feature that this deployment lacks is refused by name, and empty values pass',
      async () => {
        const environment_id = await environment()
        const agent = await agentId()
        const refused = async (body: object, words: RegExp) => {
          const answer = await seed({ agent, environment_id, ...body })
          assert.equal(answer.status, 400)
          assert.match(String((answer.body['error'] as LooseBody)['message']), words)
        }
        const base_image = 'debian:13'
        await refused({ environment_id: await environment({ base_image }) }, /base_image/)
        const empty = { vault_ids: [], resources: [], initial_events: [] }
        assert.equal((await seed({ agent, environment_id, ...empty })).status, 200)
      },
    )
  })
}
