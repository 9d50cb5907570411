import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import type { AgentVersionSummary } from '@steward/protocol/agents.ts'
import { accept, firstLink } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`agents on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const agents = () => service.client.beta.agents
    const fresh = (name: string) => agents().create({ name, model: 'offline' })

    verifies(
      [
        'agents/create',
        'agents/field/id',
        'agents/field/version',
        'agents/field/times',
        'agents/lists-present',
        'agents/field/type',
      ],
      'an agent begins at version 1 with every list present',
      async () => {
        const agent = await fresh('first')
        assert.match(agent.id, /^agent_/)
        assert.equal(agent.type, 'agent')
        assert.equal(agent.version, 1)
        assert.deepEqual([agent.tools, agent.mcp_servers, agent.skills], [[], [], []])
        assert.equal(agent.created_at, agent.updated_at)
        assert.deepEqual(await agents().retrieve(agent.id), agent)
      },
    )

    verifies(
      [
        'agents/update',
        'agents/update/new-version',
        'agents/update/omitted',
        'agents/versions/immutable',
        'agents/get/version-query',
        'agents/versions/get',
      ],
      'an update makes a new version and does not change the old one',
      async () => {
        const agent = await fresh('before')
        const next = await agents().update(agent.id, {
          version: 1,
          name: 'after',
          system: 'Be brief.',
        })
        assert.deepEqual([next.version, next.name, next.model], [2, 'after', agent.model])
        const old = await agents().retrieve(agent.id, { version: 1 })
        assert.deepEqual([old.version, old.name, old.system], [1, 'before', null])
        const seed = await service.raw('GET', `/v1/agents/${agent.id}/versions/1`)
        for (const version of ['0x1', '1e0', '%201', '+1', '0'])
          assert.equal(
            (await service.raw('GET', `/v1/agents/${agent.id}/versions/${version}`)).status,
            404,
          )
        assert.equal(((await seed.json()) as { name: string }).name, 'before')
      },
    )

    verifies('agents/update/no-op', 'an update without effect makes no version', async () => {
      const agent = await fresh('same')
      const again = await agents().update(agent.id, { version: 1, name: 'same' })
      assert.deepEqual(again, agent)
    })

    verifies('agents/update/no-op', 'an answer that is sent back makes no version', async () => {
      const agent = await agents().create({
        name: 'round trip',
        model: 'offline',
        system: 'Be brief.',
        tools: [
          { type: 'agent_toolset_20260401', configs: [{ name: 'bash', enabled: false }] },
          {
            type: 'custom',
            name: 'look',
            description: 'looks',
            input_schema: { type: 'object', properties: { b: { type: 'string' }, a: {} } },
          },
        ],
        mcp_servers: [{ type: 'url', name: 'docs', url: 'https://mcp.example.com/' }],
        skills: [{ type: 'anthropic', skill_id: 'pdf' }],
        metadata: { b: '1', a: '2' },
      })
      const { name, description, model, system, tools, mcp_servers, skills, metadata } = agent
      const body = { name, description, model, system, tools, mcp_servers, skills, metadata }
      const backwards = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(backwards)
        if (typeof value !== 'object' || value === null) return value
        const pairs = Object.entries(value).map(([key, inner]) => [key, backwards(inner)])
        return Object.fromEntries(pairs.toReversed())
      }
      for (const sent of [body, backwards(body) as typeof body]) {
        const answer = await agents().update(agent.id, { version: 1, ...sent } as typeof body)
        assert.deepEqual(answer, agent)
      }
      const plain = await service.ask('GET', `/v1/agents/${agent.id}`)
      assert.equal(plain.body['model'], 'offline', 'the stored spelling stays')
      const changed = await agents().update(agent.id, { version: 1, model: { id: 'offline-2' } })
      assert.equal(changed.version, 2)
    })

    verifies(
      'agents/update/version-guard',
      'a stale version is refused once, and not tried again',
      async () => {
        let asked = 0
        const counted: typeof fetch = (...request) => {
          asked++
          return fetch(...request)
        }
        const retrying = service.client.withOptions({ maxRetries: 2, fetch: counted })
        const agent = await fresh('guarded')
        await agents().update(agent.id, { version: 1, name: 'moved' })
        await assert.rejects(
          retrying.beta.agents.update(agent.id, { version: 1, name: 'late' }),
          ConflictError,
        )
        assert.equal(asked, 1)
      },
    )

    verifies('agents/update/race', 'of racing guarded updates exactly one wins', async () => {
      const agent = await fresh('raced')
      const racing = Array.from({ length: 8 }, (_, n) =>
        agents().update(agent.id, { version: 1, name: `racer ${n}` }),
      )
      const outcomes = await Promise.allSettled(racing)
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await agents().retrieve(agent.id)).version, 2)
    })

    verifies(
      'agents/update/metadata',
      'metadata is merged key by key, and null deletes a key',
      async () => {
        const agent = await agents().create({
          name: 'bag',
          model: 'offline',
          metadata: { a: '1', b: '2' },
        })
        const next = await agents().update(agent.id, { version: 1, metadata: { a: null, c: '3' } })
        assert.deepEqual(next.metadata, { b: '2', c: '3' })
      },
    )

    verifies(
      'agents/update/replace-lists',
      'lists are replaced whole, and null clears them',
      async () => {
        const tool = {
          type: 'custom',
          name: 'look',
          description: 'looks',
          input_schema: { type: 'object' },
        } as const
        const agent = await agents().create({ name: 'lists', model: 'offline', tools: [tool] })
        const toolset = await agents().update(agent.id, {
          version: 1,
          tools: [{ type: 'agent_toolset_20260401' }],
        })
        assert.deepEqual(
          toolset.tools.map(({ type }) => type),
          ['agent_toolset_20260401'],
        )
        const none = await agents().update(agent.id, { version: 2, tools: null })
        assert.deepEqual(none.tools, [])
      },
    )

    verifies(
      'agents/mcp/token-sealed',
      'an inline token is never returned, in old versions neither',
      async () => {
        const made = await service.raw('POST', '/v1/agents', {
          name: 'secretive',
          model: 'offline',
          tools: [],
          mcp_servers: [
            {
              name: 's',
              type: 'url',
              url: 'https://mcp.example',
              authorization_token: 'canary-token',
            },
          ],
        })
        const { id } = (await made.clone().json()) as { id: string }
        await service.raw('PATCH', `/v1/agents/${id}`, { name: 'renamed' })
        const answers = [
          await made.text(),
          ...(await Promise.all(
            [
              `/v1/agents/${id}`,
              `/v1/agents/${id}/versions`,
              `/v1/agents/${id}/versions/1`,
              '/v1/agents',
            ].map(async (path) => (await service.raw('GET', path)).text()),
          )),
        ]
        for (const answer of answers) assert.ok(!answer.includes('canary-token'))
        assert.ok(!service.logged.join('').includes('canary-token'))
      },
    )

    verifies(
      ['agents/mcp/token-kept', 'agents/update/no-op'],
      'a server that stays where it is keeps its token, and an answer sent back changes nothing',
      async () => {
        const server = { name: 's', type: 'url', url: 'https://mcp.example' }
        const other = { name: 't', type: 'url', url: 'https://other.example' }
        const { body: made } = await service.ask('POST', '/v1/agents', {
          ...{ name: 'keeper', model: 'offline', tools: [] },
          mcp_servers: [{ ...server, authorization_token: 'kept-token' }],
        })
        const update = async (mcp_servers: object[]) =>
          (await service.ask('PATCH', `/v1/agents/${made.id}`, { mcp_servers })).body['version']
        const tokens = async () => {
          const rows = await service.database.read
            .selectFrom('agent_versions')
            .select('sealed_tokens')
            .where('agent_id', '=', made.id)
            .orderBy('version', 'desc')
            .limit(1)
            .execute()
          return Object.keys(JSON.parse(String(rows[0]?.sealed_tokens)) as object)
        }
        assert.equal(await update([server]), 1, 'nothing was changed')
        assert.equal(await update([server, other]), 2)
        assert.deepEqual(await tokens(), ['s'])
        assert.equal(await update([{ ...server, url: 'https://elsewhere.example' }, other]), 3)
        assert.deepEqual(await tokens(), [], 'a token goes to no other address')
        assert.equal(await update([{ ...server, authorization_token: 'new-token' }]), 4)
        assert.equal(await update([{ ...server, authorization_token: null }]), 5)
        assert.deepEqual(await tokens(), [])
      },
    )

    verifies(
      ['agents/versions/list', 'lists/complete'],
      'versions come newest first, page by page',
      async () => {
        const agent = await fresh('paged')
        for (let version = 1; version < 4; version++)
          await agents().update(agent.id, { version, name: `v${version + 1}` })
        const seen = []
        for await (const { version } of agents().versions.list(agent.id, { limit: 1 }))
          seen.push(version)
        assert.deepEqual(seen, [4, 3, 2, 1])
      },
    )

    verifies(
      ['agents/versions/creators', 'agents/versions/creator'],
      'each version says which key or person has made it',
      async () => {
        const agent = await fresh('shared')
        const ada = await accept(service, firstLink(service), {
          email: 'ada@example.com',
          name: 'Ada',
        })
        const changed = await ada.ask('POST', `/v1/agents/${agent.id}`, { description: 'of Ada' })
        assert.equal(changed.status, 200, JSON.stringify(changed.body))
        type Page = { data: AgentVersionSummary[]; next_page: string | null }
        const path = `/v1/ext/agents/${agent.id}/versions`
        const { body } = await service.ask<Page>('GET', path)
        assert.deepEqual(
          body.data.map(({ version, created_by }) => [version, created_by?.type]),
          [
            [2, 'user'],
            [1, 'api_key'],
          ],
        )
        assert.equal(body.data[0]?.created_by?.name, 'Ada <ada@example.com>')
        assert.ok(body.data[1]?.created_by?.id)
        assert.ok(!JSON.stringify(body).includes('of Ada'))
        const first = (await service.ask<Page>('GET', `${path}?limit=1`)).body
        const next = await service.ask<Page>('GET', `${path}?page=${String(first.next_page)}`)
        assert.deepEqual(next.body.data, body.data.slice(1))
        assert.equal(next.body.next_page, null)
      },
    )

    verifies(
      [
        'agents/archive',
        'agents/delete',
        'agents/archive/read-only',
        'agents/archive/repeated',
        'agents/list/include-archived',
        'agents/list/archived',
      ],
      'an archived agent is read-only and hidden from lists that do not ask for it',
      async () => {
        const agent = await fresh('done with')
        const archived = await agents().archive(agent.id)
        assert.ok(archived.archived_at)
        const deleted = await service.raw('DELETE', `/v1/agents/${agent.id}`)
        assert.deepEqual(
          [deleted.status, ((await deleted.json()) as { id: string }).id],
          [200, agent.id],
        )
        await assert.rejects(agents().update(agent.id, { version: 1, name: 'x' }), { status: 400 })
        const ids = async (query: object) => {
          const found = []
          for await (const { id } of agents().list(query)) found.push(id)
          return found
        }
        assert.ok(!(await ids({})).includes(agent.id))
        assert.ok((await ids({ include_archived: true })).includes(agent.id))
        const only = (await (await service.raw('GET', '/v1/agents?archived=true')).json()) as {
          data: { archived: boolean }[]
        }
        assert.ok(only.data.length > 0 && only.data.every(({ archived }) => archived))
      },
    )

    verifies(
      ['dialects/agent-model', 'agents/field/model'],
      'a string model stays a string in the interface dialect, and is an object to the client',
      async () => {
        const agent = await fresh('modelled')
        assert.equal(agent.model.id, 'offline')
        const seed = (await (await service.raw('GET', `/v1/agents/${agent.id}`)).json()) as {
          model: unknown
        }
        assert.equal(seed.model, 'offline')
      },
    )

    verifies(
      'dialects/agent-tools',
      'an agent without tools has none, in each dialect',
      async () => {
        for (const tools of [{}, { tools: [] }, { tools: null }]) {
          const agent = { name: 'n', model: 'offline', ...tools }
          const made = await service.raw('POST', '/v1/agents', agent)
          assert.equal(made.status, 200)
          assert.deepEqual(((await made.json()) as { tools: unknown }).tools, [])
        }
      },
    )

    verifies('http/body/unknown-field', 'an unknown field is refused by its name', async () => {
      const answer = await service.raw('POST', '/v1/agents', {
        name: 'n',
        model: 'offline',
        tools: [],
        colour: 'red',
      })
      assert.equal(answer.status, 400)
      assert.match(await answer.text(), /colour/)
    })

    verifies('ids/foreign', 'an id that does not exist is not found', async () => {
      await assert.rejects(agents().retrieve('agent_nowhere'), NotFoundError)
    })

    it('the oldest client creates, updates and lists', async () => {
      const { agents: old } = service.oldest.beta
      const agent = await old.create({ name: 'old hand', model: 'offline' })
      const next = await old.update(agent.id, { version: 1, name: 'older hand' })
      assert.equal(next.version, 2)
      const found = []
      for await (const { id } of old.list({ limit: 2 })) found.push(id)
      assert.ok(found.includes(agent.id))
    })
  })
}
