import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, fresh, newSession, only, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`fields of agents on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const ask = (more: object) =>
      service.ask('POST', '/v1/agents', { name: 'n', model: 'offline', tools: [], ...more })
    async function make(more: object = {}): Promise<LooseBody> {
      const made = await ask(more)
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body
    }
    const update = async (id: string, change: object) =>
      (await service.ask('PATCH', `/v1/agents/${id}`, change)).body
    const refused = async (more: object, words: RegExp) => {
      const { status, body } = await ask(more)
      assert.equal(status, 400, JSON.stringify(more))
      assert.match(String((body['error'] as LooseBody)['message']), words)
    }

    verifies(
      [
        'agents/field/name',
        'agents/field/description',
        'agents/field/system',
        'agents/field/environment-id',
        'agents/field/memory-store-id',
        'agents/field/harness',
        'agents/field/answers',
        'agents/field/max-concurrent-subagents',
        'agents/field/multiagent',
        'agents/field/execution-identity',
        'agents/field/archived',
        'agents/get',
      ],
      'each field is kept and returned, or refused by its name',
      async () => {
        const answer = await service.ask('POST', '/v1/environments', { name: fresh('env') })
        const store = await service.client.beta.memoryStores.create({ name: fresh('store') })
        const given = {
          description: 'does things',
          system: 's'.repeat(100_000),
          environment_id: answer.body.id,
          memory_store_id: store.id,
          harness: 'native',
          answers: { verbosity: 'low', schema: { type: 'object' } },
          max_concurrent_subagents: 3,
          execution_identity: { type: 'service_account' },
        }
        const made = await make(given)
        for (const [name, value] of Object.entries(given)) assert.deepEqual(made[name], value)
        assert.deepEqual((await service.ask('GET', `/v1/agents/${made.id}`)).body, made)
        const cleared = { answers: null, max_concurrent_subagents: null }
        const { body: without } = await service.ask('PATCH', `/v1/agents/${made.id}`, cleared)
        assert.ok(!('answers' in without) && !('max_concurrent_subagents' in without))
        const plain = await make({ multiagent: null })
        assert.deepEqual(
          [plain['harness'], plain['description'], plain['system'], plain['environment_id']],
          ['default', null, null, null],
        )
        assert.deepEqual(
          [plain['archived'], plain['archived_at'], plain['multiagent']],
          [false, null, null],
        )
        const other = await service.otherWorkspace('the owner of an environment')
        const key = { 'x-api-key': other.key, 'vendor-beta': 'agent-memory-2026-07-22' }
        const foreign = await service.ask('POST', '/v1/environments', { name: 'e' }, key)
        const foreignStore = await service.ask('POST', '/v1/memory_stores', { name: 's' }, key)
        for (const id of [
          { environment_id: 'env_of_nobody' },
          { environment_id: foreign.body.id },
          { memory_store_id: 'memstore_of_nobody' },
          { memory_store_id: foreignStore.body.id },
        ]) {
          assert.equal((await ask(id)).status, 404, JSON.stringify(id))
          const changed = await service.ask('PATCH', `/v1/agents/${made.id}`, id)
          assert.equal(changed.status, 404, JSON.stringify(id))
        }
        await refused({ name: '' }, /name/)
        await refused({ name: 'n'.repeat(257) }, /name/)
        await refused({ name: undefined }, /name/)
        await refused({ model: undefined }, /model/)
        await refused({ harness: 'strange' }, /harness/)
        await refused({ answers: { verbosity: 'loud' } }, /answers\.verbosity/)
        await refused({ answers: { schema: { a: 'x'.repeat(100_001) } } }, /answers\.schema/)
        await refused({ max_concurrent_subagents: 26 }, /max_concurrent_subagents/)
        await refused({ multiagent: { type: 'coordinator' } }, /multiagent/)
        await refused(
          { execution_identity: { type: 'aws_role', role_arn: 'x' } },
          /execution_identity/,
        )
      },
    )

    verifies(
      'agents/create/assigned',
      'fields that the service assigns cannot be set',
      async () => {
        for (const key of [
          'id',
          'version',
          'created_at',
          'updated_at',
          'archived',
          'archived_at',
        ]) {
          await refused({ [key]: key === 'version' ? 7 : 'x' }, new RegExp(key))
        }
      },
    )

    verifies(
      ['agents/field/metadata', 'agents/metadata/compaction-keys', 'agents/update/metadata'],
      'metadata keeps values of any type, and the keys of compaction are typed',
      async () => {
        const metadata = {
          text: 'a',
          count: 7,
          nested: { deep: [true, null] },
          compaction_strategy: 'summarize',
          compaction_trigger_fraction: 0.8,
          compaction_max_summary_tokens: 2000,
          compaction_summary_prompt: 'p'.repeat(5000),
        }
        const made = await make({ metadata })
        assert.deepEqual(made['metadata'], metadata)
        const next = await update(made.id, { metadata: { text: null, count: 8 } })
        assert.deepEqual(Object.keys(next['metadata'] as object).includes('text'), false)
        assert.equal((next['metadata'] as LooseBody)['count'], 8)
        await refused({ metadata: { text: 'x'.repeat(513) } }, /metadata/)
        await refused({ metadata: { compaction_strategy: 7 } }, /compaction_strategy/)
        await refused({ metadata: { compaction_trigger_fraction: 'x' } }, /trigger_fraction/)
        await refused({ metadata: { compaction_max_summary_tokens: 1.5 } }, /max_summary_tokens/)
      },
    )

    verifies(
      ['agents/field/skills', 'agents/skills/bare-strings'],
      'a skill names its kind, and a bare string binds nothing',
      async () => {
        const skill = { type: 'anthropic', skill_id: 'pdf', version: 'latest' }
        assert.deepEqual((await make({ skills: ['xlsx', skill] }))['skills'], [skill])
        await refused({ skills: [{ type: 'strange', skill_id: 'x' }] }, /skills/)
        const bare = await make({ skills: ['xlsx'] })
        const environment = await service.ask('POST', '/v1/environments', { name: fresh('env') })
        const session = { agent: bare.id, environment_id: environment.body.id }
        assert.equal((await service.ask('POST', '/v1/sessions', session)).status, 200)
      },
    )

    verifies(
      [
        'agents/field/mcp-servers',
        'agents/mcp/field/name',
        'agents/mcp/field/type',
        'agents/mcp/field/url',
        'agents/mcp/field/authorization-token',
        'agents/mcp/field/stdio-command',
        'agents/mcp/field/stdio-args',
        'agents/mcp/field/stdio-env',
        'agents/mcp/field/stdio-port',
        'agents/mcp/field/stdio-ready-timeout',
        'agents/mcp/unreferenced',
        'limits/mcp-servers',
        'limits/stdio-ready-timeout',
      ],
      'servers are declared by url or by a program, at most 20, with names of their own',
      async () => {
        const url = { name: 'remote', type: 'url', url: 'https://mcp.example/mcp' }
        const stdio = { command: 'serve', args: ['-v'], env: { A: 'b' }, port: 4000 }
        const mcp_servers = [
          { ...url, authorization_token: 'token-1' },
          { name: 'local', type: 'stdio', stdio },
        ]
        const shown = (await make({ mcp_servers }))['mcp_servers']
        const ready_timeout_ms = 60_000
        assert.deepEqual(shown, [
          url,
          { name: 'local', type: 'stdio', stdio: { ...stdio, ready_timeout_ms } },
        ])
        const many = (count: number) =>
          Array.from({ length: count }, (_, index) => ({ ...url, name: `s${index}` }))
        await make({ mcp_servers: many(20) })
        await refused({ mcp_servers: many(21) }, /mcp_servers/)
        await refused({ mcp_servers: [url, url] }, /unique/)
        await refused({ mcp_servers: [{ name: 'x', type: 'url' }] }, /url/)
        await refused({ mcp_servers: [{ name: 'x', type: 'stdio' }] }, /stdio/)
        await refused({ mcp_servers: [{ ...url, name: '' }] }, /name/)
        await refused({ mcp_servers: [{ ...url, type: 'sse' }] }, /type/)
      },
    )

    verifies(
      [
        'agents/update/clear-text',
        'agents/update/not-clearable',
        'agents/update/unguarded',
        'versions/agent-update',
        'versions/agent-history',
        'service/agents/versioned',
      ],
      'texts are cleared, names are not, and without a version the last writer wins',
      async () => {
        const { id } = await make({ system: 'one', description: 'one' })
        const cleared = await update(id, { system: null, description: '' })
        assert.deepEqual(
          [cleared['system'], cleared['description'], cleared['version']],
          [null, null, 2],
        )
        for (const change of [{ name: null }, { name: '' }, { model: null }]) {
          const { status } = await service.ask('PATCH', `/v1/agents/${id}`, change)
          assert.equal(status, 400, JSON.stringify(change))
        }
        const writers = ['a', 'b', 'c', 'd'].map((name) => update(id, { name }))
        const versions = (await Promise.all(writers)).map((agent) => agent['version'])
        assert.deepEqual(new Set(versions), new Set([3, 4, 5, 6]))
        const first = await service.ask('GET', `/v1/agents/${id}/versions/1`)
        assert.equal(first.body['system'], 'one')
      },
    )

    verifies(
      [
        'agents/update/model-effort-kept',
        'agents/update/model-effort-reset',
        'agents/update/model-geo-cleared',
      ],
      'a new model object replaces the old one, but for the effort of the same model',
      async () => {
        const model = { id: 'm', effort: 'high', inference_geo: 'us' }
        const { id } = await make({ model })
        const kept = (await update(id, { model: { id: 'm', speed: 'fast' } }))['model'] as LooseBody
        assert.deepEqual(kept['effort'], { type: 'high' })
        assert.equal(kept['inference_geo'] ?? null, null)
        const named = (await update(id, { model: 'm' }))['model'] as LooseBody
        assert.deepEqual(named, { id: 'm', effort: { type: 'high' } })
        assert.equal((await update(id, { model: 'm' }))['version'], 3)
        const other = (await update(id, { model: { id: 'other' } }))['model'] as LooseBody
        assert.equal(other['effort'] ?? null, null)
        const without = { id: 'm', effort: null }
        await update(id, { model })
        const reset = (await update(id, { model: without }))['model'] as LooseBody
        assert.equal(reset['effort'] ?? null, null)
        await update(id, { model })
        assert.equal((await update(id, { model: 'other' }))['model'], 'other')
      },
    )

    verifies(
      [
        'agents/field/tools',
        'tools/entry/toolset',
        'tools/entry/custom',
        'tools/entry/mcp-toolset',
        'tools/toolset/resolved',
        'tools/toolset/members',
      ],
      'tool entries come back with all defaults written out',
      async () => {
        const mcp_servers = [{ name: 's', type: 'url', url: 'https://mcp.example' }]
        const tools = [
          { type: 'agent_toolset_20260401', configs: [{ name: 'bash', enabled: false }] },
          { type: 'mcp_toolset', mcp_server_name: 's' },
          custom,
        ]
        const shown = (await make({ mcp_servers, tools }))['tools']
        const allow = { type: 'always_allow' }
        assert.deepEqual(shown, [
          {
            type: 'agent_toolset_20260401',
            default_config: { enabled: true, permission_policy: allow },
            configs: [{ name: 'bash', type: 'bash', enabled: false, permission_policy: allow }],
          },
          {
            type: 'mcp_toolset',
            mcp_server_name: 's',
            default_config: { enabled: true, permission_policy: { type: 'always_ask' } },
            configs: [],
          },
          custom,
        ])
        for (const name of ['read', 'write', 'edit', 'glob', 'grep', 'web_fetch', 'web_search']) {
          await make({ tools: [{ type: 'agent_toolset_20260401', configs: [{ name }] }] })
        }
        const strange = { type: 'agent_toolset_20260401', configs: [{ name: 'fly' }] }
        await refused({ tools: [strange] }, /tools/)
        const many = Array.from({ length: 257 }, (_, index) => ({ ...custom, name: `t${index}` }))
        await refused({ tools: many }, /256/)
        await make({ tools: many.slice(1) })
      },
    )

    verifies(
      [
        'tools/custom/name',
        'tools/custom/description',
        'tools/custom/input-schema',
        'tools/custom/execution-http',
        'tools/custom/execution-sandbox',
      ],
      'a custom tool has a name of its own, a description and a plain schema',
      async () => {
        for (const name of ['', 'n'.repeat(129), 'a b', 'bash', 'mcp__s__t', 'ü']) {
          await refused({ tools: [{ ...custom, name }] }, /tools/)
        }
        await refused({ tools: [custom, custom] }, /taken/)
        await refused({ tools: [{ ...custom, description: '' }] }, /description/)
        for (const input_schema of [
          { type: 'string' },
          { type: 'object', oneOf: [] },
          { type: 'object', allOf: [] },
          { type: 'object', properties: { a: { $ref: '#/x' } } },
        ]) {
          await refused({ tools: [{ ...custom, input_schema }] }, /input_schema/)
        }
        const executions = [
          { type: 'http', endpoint: 'https://api.example/x', method: 'POST' },
          { type: 'sandbox', command: 'look' },
        ]
        for (const execution of executions) {
          const [tool] = (await make({ tools: [{ ...custom, execution }] }))['tools'] as LooseBody[]
          assert.deepEqual(tool?.['execution'], execution)
        }
        await make({ tools: [{ ...custom, name: 'n'.repeat(128) }] })
      },
    )

    verifies(
      'agents/skills/known',
      'an agent with a skill that is not there is refused',
      async () => {
        const body = { name: 'skilled', model: 'offline', tools: [] }
        const made = await service.ask('POST', '/v1/agents', body)
        for (const [skill, why] of [
          [{ type: 'custom', skill_id: 'nowhere' }, /skills: skill nowhere does not exist/],
          [{ type: 'custom', skill_id: 'pdf' }, /skills\.0\.type/],
          [{ type: 'anthropic', skill_id: 'pdf', version: '7' }, /skills: skill version pdf\/7/],
        ] as const) {
          for (const path of ['/v1/agents', `/v1/agents/${made.body.id}`]) {
            const refused = await service.ask('POST', path, { ...body, skills: [skill] })
            assert.equal(refused.status, 400, path)
            assert.match(JSON.stringify(refused.body), why)
          }
        }
      },
    )

    verifies(
      'tools/toolset/url-sources',
      'sources of a fetched URL are shown as objects, and kept from running where they narrow',
      async () => {
        const toolset = (url_sources: object) => [
          { type: 'agent_toolset_20260401', configs: [{ name: 'web_fetch', url_sources }] },
        ]
        const agent = await make({ tools: toolset({ user_input: 'none' }) })
        const unset = { client_tool_results: null, server_tool_results: null }
        const [{ configs } = { configs: [] }] = agent['tools'] as { configs: LooseBody[] }[]
        assert.deepEqual(configs[0]?.['url_sources'], { ...unset, user_input: { type: 'none' } })
        const environment = await service.ask('POST', '/v1/environments', { name: fresh('env') })
        const session = { agent: agent.id, environment_id: environment.body.id }
        const refusal = await service.ask<LooseBody>('POST', '/v1/sessions', session)
        assert.equal(refusal.status, 400)
        assert.match(JSON.stringify(refusal.body), /web_fetch\.url_sources\.user_input: none is/)
        const none = { client_tool_results: 'none', server_tool_results: 'none' }
        await refused({ tools: toolset({ ...none, user_input: 'none' }) }, /none for all three/)
      },
    )

    verifies(
      'tools/toolset/configs',
      'an entry whose type is another name is refused',
      async () => {
        const tools = [
          { type: 'agent_toolset_20260401', configs: [{ name: 'bash', type: 'read' }] },
        ]
        const refused = await service.ask('POST', '/v1/agents', {
          name: 'n',
          model: 'offline',
          tools,
        })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /configs\.0\.type: is bash/)
      },
    )

    verifies(
      ['tools/toolset/configs', 'tools/toolset/disabled', 'tools/permission/types'],
      'a tool that is disabled is not offered to the model',
      async () => {
        const toolset = {
          type: 'agent_toolset_20260401',
          default_config: { enabled: false, permission_policy: { type: 'auto' } },
          configs: [
            { name: 'read', enabled: true },
            { name: 'web_fetch', enabled: true },
            { name: 'glob', enabled: true, permission_policy: { type: 'always_allow' } },
          ],
        }
        const session = await newSession(service, { tools: [toolset] })
        const told = await turn(service, session, 'call fly {}')
        assert.match(JSON.stringify(only(told, 'agent.message')), /I have: read, glob, web_fetch/)
        const asked = await turn(service, session, 'read x.txt')
        assert.equal(only(asked, 'agent.tool_use')['evaluated_permission'], 'ask')
        await turn(service, session, { type: 'user.interrupt' })
        const allowed = await turn(service, session, 'call glob {"pattern": "*"}')
        assert.equal(only(allowed, 'agent.tool_use')['evaluated_permission'], 'allow')
      },
    )
  })
}
