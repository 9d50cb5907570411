/** Agents that name other agents, and the subagents that their sessions get. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, fresh, say } from '../turns.ts'
import { verifies } from '../verifies.ts'

type ShownMultiagent = NonNullable<
  Parameters<Anthropic['beta']['agents']['create']>[0]['multiagent']
>
const disabled = { type: 'disabled' } as const
const enabled = { type: 'enabled' } as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`agents that work together on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const agents = () => service.client.beta.agents
    const sessions = () => service.client.beta.sessions
    const member = async (more: object = {}) =>
      agents().create({ name: fresh('member'), model: 'offline', ...more })
    const boss = (multiagent: ShownMultiagent | null, more: object = {}) =>
      agents().create({ name: fresh('boss'), model: 'offline', multiagent, ...more })
    const environment = async () =>
      (await service.client.beta.environments.create({ name: fresh('environment') })).id
    const reference = ({ id, version }: { id: string; version: number }) => ({
      type: 'agent',
      id,
      version,
    })
    async function refused(multiagent: unknown, words: RegExp, more: object = {}) {
      const body = { name: 'n', model: 'offline', tools: [], multiagent, ...more }
      const { status, body: told } = await service.ask('POST', '/v1/agents', body)
      assert.equal(status, 400, JSON.stringify(multiagent))
      assert.match(String((told['error'] as LooseBody)['message']), words)
    }

    verifies(
      [
        'agents/multiagent/coordinator',
        'agents/multiagent/references',
        'agents/multiagent/pinned',
        'agents/multiagent/advisor',
        'agents/multiagent/clear',
      ],
      'a coordinator names agents, each pinned when it is saved',
      async () => {
        const [plain, old] = [await member(), await member()]
        await agents().update(old.id, { version: 1, description: 'newer' })
        const made = await boss({
          type: 'coordinator',
          agents: [
            { type: 'advisor', model: 'wise' },
            plain.id,
            { type: 'self' },
            { type: 'agent', id: old.id, version: 1 },
          ],
        })
        const shown = (version: number) => ({
          type: 'coordinator',
          agents: [
            reference(plain),
            { type: 'agent', id: made.id, version },
            reference(old),
            { type: 'advisor', model: 'wise' },
          ],
        })
        assert.deepEqual(made.multiagent, shown(1))
        await agents().update(plain.id, { version: 1, description: 'newer' })
        const { id } = made
        const read = await service.ask('GET', `/v1/agents/${id}`)
        assert.deepEqual(read.body['multiagent'], shown(1))
        const renamed = await agents().update(id, { version: 1, name: fresh('boss') })
        assert.deepEqual([renamed.version, renamed.multiagent], [2, shown(2)])
        const again = await agents().update(id, { version: 2, multiagent: renamed.multiagent })
        assert.equal(again.version, 2, 'what was read and sent back changes nothing')
        assert.deepEqual((await agents().retrieve(id, { version: 1 })).multiagent, shown(1))
        const listed = await service.ask('GET', `/v1/agents/${id}/versions`)
        assert.deepEqual(
          listed.body.data.map(({ multiagent }) => multiagent),
          [shown(2), shown(1)],
        )
        const sent = await agents().update(id, {
          version: 2,
          multiagent: { type: 'coordinator', agents: [plain.id] },
        })
        assert.deepEqual(sent.multiagent, {
          type: 'coordinator',
          agents: [{ type: 'agent', id: plain.id, version: 2 }],
        })
        const alone = await agents().update(id, { version: 3, multiagent: null })
        assert.deepEqual([alone.version, alone.multiagent], [4, null])
        const oldest = await service.oldest.beta.agents.retrieve(id)
        assert.equal(oldest.version, 4)
      },
    )

    verifies(
      [
        'agents/multiagent/levels',
        'agents/multiagent/defaults',
        'agents/multiagent/merge',
        'agents/multiagent/workflows',
        'agents/multiagent/inline',
      ],
      'levels have defaults, and an update is merged into them',
      async () => {
        const { id: one } = await member()
        const type = 'multiagent_20261001'
        const made = await boss({ type, workflows: disabled })
        const defaults = {
          type,
          advisor: disabled,
          subagents: { ...enabled, inline_agents: enabled, predefined_agents: [] },
          workflows: disabled,
        } as const
        assert.deepEqual(made.multiagent, defaults)
        const update = async (version: number, multiagent: object) =>
          (
            await agents().update(made.id, {
              version,
              multiagent: { type, ...multiagent } as ShownMultiagent,
            })
          ).multiagent
        const advisor = { ...enabled, model: 'wise' } as const
        assert.deepEqual(await update(1, { advisor }), { ...defaults, advisor })
        const subagents = { ...enabled, inline_agents: disabled, predefined_agents: [one] }
        const listed = { ...subagents, predefined_agents: [reference({ id: one, version: 1 })] }
        assert.deepEqual(await update(2, { subagents }), {
          ...defaults,
          advisor,
          subagents: listed,
        })
        await agents().update(one, { version: 1, description: 'newer' })
        const without = { ...defaults, subagents: listed }
        assert.deepEqual(await update(3, { advisor: null }), without, 'a kept list keeps its pins')
        const empty = update(4, { subagents: { ...enabled, predefined_agents: [] } })
        await assert.rejects(empty, /multiagent\.subagents\.predefined_agents/)
        await assert.rejects(update(4, { workflows: null }), /multiagent\.workflows/)
        await refused({ type }, /^multiagent\.workflows: .*"disabled"/)
        await refused({ type, workflows: enabled }, /^multiagent\.workflows\.type: not yet/)
        await refused({ type, workflows: disabled, advisor: enabled }, /multiagent\.advisor\.model/)
        const whole: ShownMultiagent = { type: 'coordinator', agents: [one] }
        const replaced = await agents().update(made.id, { version: 4, multiagent: whole })
        assert.equal(replaced.multiagent?.type, 'coordinator')
      },
    )

    verifies(
      [
        'agents/multiagent/members',
        'agents/multiagent/names',
        'agents/multiagent/size',
        'agents/field/multiagent',
      ],
      'a list that cannot work is refused, and the entry named',
      async () => {
        const [one, two] = [await member(), await member()]
        const list = (...entries: unknown[]) => ({ type: 'coordinator', agents: entries })
        const reserved = await member({ name: 'anthropic.advisor' })
        const twin = await member({ name: one.name })
        const nested = await boss({ type: 'coordinator', agents: [one.id] })
        const archived = await member()
        await agents().archive(archived.id)
        const other = await service.otherWorkspace(fresh('other'))
        const theirs = await service.ask(
          'POST',
          '/v1/agents',
          { name: 'n', model: 'offline', tools: [] },
          { authorization: `Bearer ${other.key}` },
        )
        const advisor = { type: 'advisor', model: 'wise' }
        const entry = (index: number) => new RegExp(`^multiagent\\.agents\\.${index}`)
        await refused({ type: 'strange' }, /^multiagent/)
        await refused(list(), /^multiagent\.agents/)
        await refused(list(...Array<string>(21).fill(one.id)), /^multiagent\.agents/)
        await refused(list(one.id, two.id, reference(one)), entry(2))
        await refused(list({ type: 'self' }, { type: 'self' }), entry(1))
        await refused(list(advisor, one.id, advisor), entry(2))
        await refused(list(one.id, 'agent_nowhere'), /^multiagent\.agents\.1: .*does not exist/)
        await refused(list(theirs.body.id), /^multiagent\.agents\.0: .*does not exist/)
        await refused(list(archived.id), /^multiagent\.agents\.0: .*archived/)
        await refused(list(nested.id), /^multiagent\.agents\.0: .*one level/)
        const later = { ...reference(one), version: 9 }
        await refused(list(later), /^multiagent\.agents\.0\.version: .*no version 9/)
        await refused(list(reserved.id), /reserved/)
        await refused(list(one.id, twin.id), new RegExp(`both named ${one.name}`))
        await refused(list(one.id, { type: 'self' }), /both named/, { name: one.name })
        const subagents = { ...enabled, predefined_agents: [one.id, nested.id] }
        await refused(
          { type: 'multiagent_20261001', subagents, workflows: disabled },
          /^multiagent\.subagents\.predefined_agents\.1: .*one level/,
        )
        const made = await boss({ type: 'coordinator', agents: [one.id, { type: 'self' }] })
        const rename = agents().update(made.id, { version: 1, name: one.name })
        await assert.rejects(rename, /both named/)
        const strange = { type: 'agent', id: made.id, version: 7 } as const
        const itself: ShownMultiagent = { type: 'coordinator', agents: [strange] }
        await assert.rejects(agents().update(made.id, { version: 1, multiagent: itself }), /self/)
        const system = 's'.repeat(100_000)
        const large: string[] = []
        for (let index = 0; index < 11; index++) large.push((await member({ system })).id)
        await refused(list(...large), /agents of multiagent together.*1048576 bytes/)
      },
    )

    verifies(
      ['sessions/create/multiagent', 'sessions/create/archived-member'],
      'a session has each agent whole, and overrides reach the agent itself alone',
      async () => {
        const one = await member({
          system: 'of one',
          skills: [{ type: 'anthropic', skill_id: 'pdf' }],
        })
        const { id } = await boss(
          { type: 'coordinator', agents: [one.id, { type: 'self' }] },
          { system: 'of boss' },
        )
        const environment_id = await environment()
        const agent = { type: 'agent_with_overrides', id, system: 'other' } as const
        const made = await sessions().create({ agent, environment_id })
        const { multiagent } = made.agent
        assert.ok(multiagent?.type === 'coordinator')
        const [first, self] = multiagent.agents
        assert.ok(first?.type === 'agent' && self?.type === 'agent')
        assert.deepEqual([first.system, self.system], ['of one', 'other'])
        assert.deepEqual([first.name, first.version, first.model.id], [one.name, 1, 'offline'])
        assert.match(String(first.skills[0]?.version), /^\d+$/)
        for (const key of ['metadata', 'multiagent', 'created_at'])
          assert.equal(Object.hasOwn(first, key), false, key)
        await agents().update(one.id, { version: 1, system: 'newer' })
        await sessions().update(made.id, { agent: { tools: [custom] } })
        const read = await sessions().retrieve(made.id)
        assert.ok(read.agent.multiagent?.type === 'coordinator')
        const [same, changed] = read.agent.multiagent.agents
        assert.deepEqual(same, first)
        assert.ok(changed?.type === 'agent')
        assert.deepEqual(
          changed.tools.map(({ type }) => type),
          ['custom'],
        )
        const told = (await say(service, made.id)).find(({ type }) => type === 'session.updated')
        assert.deepEqual(told?.['agent'], read.agent)
        const listed = await sessions().list({ limit: 1 })
        assert.deepEqual(listed.data[0]?.agent, read.agent)
        await agents().archive(one.id)
        const refusedSession = sessions().create({ agent: id, environment_id })
        await assert.rejects(refusedSession, /agent\.multiagent\.agents\.0: .*archived/)
        assert.equal((await sessions().retrieve(made.id)).agent.multiagent?.type, 'coordinator')
      },
    )

    verifies(
      'sessions/create/member-fits',
      'a session is refused whose agents it could not run',
      async () => {
        const environment_id = await environment()
        const stdio = { command: 'serve', port: 4000 }
        const started = await service.ask('POST', '/v1/agents', {
          name: fresh('started'),
          model: 'offline',
          tools: [],
          mcp_servers: [{ name: 's', type: 'stdio', stdio }],
        })
        const one = await boss({ type: 'coordinator', agents: [started.body.id] })
        const where = /agent\.multiagent\.agents\.0\.mcp_servers\.0/
        await assert.rejects(sessions().create({ agent: one.id, environment_id }), where)
        const config = { type: 'self_hosted' } as const
        const hosted = await service.client.beta.environments.create({ name: fresh('e'), config })
        const there = sessions().create({ agent: one.id, environment_id: hosted.id })
        await assert.rejects(there, where)
        const two = await boss({
          type: 'coordinator',
          agents: [{ type: 'advisor', model: 'dear' }],
        })
        const max_list_cost = { amount: '100', currency: 'USD' } as const
        const budget = { type: 'limit', max_list_cost } as const
        const dear = sessions().create({ agent: two.id, environment_id, budget })
        await assert.rejects(dear, /budget: /)
      },
    )
  })
}
