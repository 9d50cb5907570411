/** `/openai/v1` with callers who attack it or send nonsense. */
import { unheardOfModel } from '../priced-model.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { allRoutesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { skillText } from '../skills.ts'
import { oddText, malformedBodies } from '../malformed-bodies.ts'
import { custom, fresh, newSession, only, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const base = '/openai/v1'
const sessions = `${base}/agents/sessions`
type ListedObjects = { data: (LooseBody & { id: string })[] }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`hostile requests to the OpenAI surface on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database, { env: { RATE_LIMITS: 'off' } })))
    after(() => service.close())

    const errorOf = (body: object) => (body as { error: { message: string; param: string } }).error
    async function made(path: string, body: object): Promise<string> {
      const { status, body: answer } = await service.ask('POST', path, body)
      assert.equal(status, 200, `${path} ${JSON.stringify(answer)}`)
      return answer.id
    }
    const idsOf = async (path: string): Promise<string[]> =>
      (await service.ask<ListedObjects>('GET', path)).body.data.map(({ id }) => id)
    const hosted = { agent: { model: 'offline' }, environment: { type: 'openai_hosted' } }

    verifies('openai/agents/tools', 'tools have the same limits as on /v1', async () => {
      const fn = (name: string) => ({ type: 'function', name, description: 'd', parameters: {} })
      const mcp = (server_label: string, more: object = {}) => ({
        ...{ type: 'mcp', server_label, ...more },
        transport: { type: 'http', server_url: 'https://mcp.example.com/mcp' },
      })
      const cases: [object[], string][] = [
        [[fn('x'), fn('bash')], 'tools.1.name'],
        [[fn('mcp__tracker__find')], 'tools.0.name'],
        [[fn('x'), fn('x')], 'tools.1.name'],
        [
          [{ type: 'web_search', allowed_domains: ['https://x.example'] }],
          'tools.0.allowed_domains.0',
        ],
        [[{ type: 'web_search' }, { type: 'web_search' }], 'tools.1'],
        [[mcp('x', { allowed_tools: ['a', 'a'] })], 'tools.0.allowed_tools'],
        [Array.from({ length: 21 }, (_, n) => mcp(`s${n}`)), 'tools'],
        [Array.from({ length: 249 }, (_, n) => fn(`f${n}`)), 'tools'],
        [[{ type: 'tool_search' }], 'tools.0.type'],
        [[{ type: 'programmatic_tool_calling', enabled: true }], 'tools.0.type'],
        [[{ type: 'computer_use', include_screenshots: true }], 'tools.0.type'],
        [[{ type: 'automations' }, { type: 'automations' }], 'tools.1'],
        [[mcp('x', { connection_origin: 'environment' })], 'tools.0.connection_origin'],
        [
          [{ ...mcp('x'), transport: { type: 'stdio', command: 'x', cwd: '/' } }],
          'tools.0.transport.type',
        ],
      ]
      for (const [tools, param] of cases) {
        const { status, body } = await service.ask('POST', `${base}/agents`, {
          ...{ model: 'offline', tools },
        })
        assert.equal(status, 400, param)
        assert.equal(errorOf(body).param, param, errorOf(body).message)
      }
      const typed = { model: 'offline', metadata: { compaction_trigger_fraction: 'much' } }
      assert.equal((await service.ask('POST', `${base}/agents`, typed)).status, 400)
    })

    verifies('openai/agents/delete', 'the deployments of a deleted agent end with it', async () => {
      const agent = await made(`${base}/agents`, { model: 'offline' })
      const deployment = await made('/v1/deployments', {
        name: fresh('deployment'),
        agent,
        environment_id: await made('/v1/environments', { name: fresh('e') }),
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }],
      })
      assert.equal((await service.ask('DELETE', `${base}/agents/${agent}`)).status, 200)
      const { body } = await service.ask('GET', `/v1/deployments/${deployment}`)
      assert.ok(body['archived_at'])
    })

    verifies(
      'openai/sessions/get',
      'an archived session is shown when its environment is deleted; a stream ends with the archive',
      async () => {
        const environment_id = await made('/v1/environments', { name: fresh('e') })
        const agent = await made('/v1/agents', { name: 'n', model: 'offline', tools: [] })
        const id = await made('/v1/sessions', { agent, environment_id })
        const stream = await service.raw('GET', `${sessions}/${id}/events`)
        assert.equal((await service.ask('POST', `/v1/sessions/${id}/archive`)).status, 200)
        assert.match(await stream.text(), /"agent.session.failed"/)
        const gone = await service.ask('DELETE', `/v1/environments/${environment_id}`)
        assert.equal(gone.status, 200)
        const { status, body } = await service.ask('GET', `${sessions}/${id}`)
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body['status'], 'failed')
        const other = await made(sessions, hosted)
        const open = await service.raw('GET', `${sessions}/${other}/events`)
        assert.equal((await service.ask('DELETE', `${sessions}/${other}`)).status, 200)
        await open.text()
        for (const path of ['', '/events', '/turns', '/items', '/artifacts', '/subagents'])
          assert.equal((await service.ask('GET', `${sessions}/${other}${path}`)).status, 404, path)
      },
    )

    verifies(
      'openai/lists',
      'an id of another list, another kind or another workspace is nothing to go on behind',
      async () => {
        const [id, other] = [await newSession(service), await newSession(service)]
        await turn(service, id, 'say: one')
        await turn(service, id, 'say: two')
        await turn(service, other, 'say: of another')
        const [second, first] = await idsOf(`${sessions}/${id}/turns`)
        assert.ok(first && second)
        const ofFirst = await idsOf(`${sessions}/${id}/turns/${first}/items`)
        assert.equal(ofFirst.length, 2)
        const log = await service.ask<ListedObjects>('GET', `/v1/sessions/${id}/events?limit=1000`)
        const idle = log.body.data.find((event) => event['type'] === 'session.status_idle')
        const [foreign = ''] = await idsOf(`${sessions}/${other}/items`)
        const stray: [string, string][] = [
          [`/turns/${second}/items`, ofFirst[0] ?? ''],
          [`/turns/${first}/items`, second],
          ['/items', idle?.id ?? ''],
          ['/items', foreign],
          ['/turns', ofFirst.find((each) => each !== first) ?? ''],
          ['/turns', foreign],
          ['/artifacts', id],
        ]
        for (const [path, after] of stray)
          for (const order of ['asc', 'desc']) {
            const asked = `${sessions}/${id}${path}?after=${after}&order=${order}`
            const { status, body } = await service.ask('GET', asked)
            assert.equal(status, 400, `${asked} ${JSON.stringify(body)}`)
            assert.equal(errorOf(body).param, 'after')
          }
        const stranger = await service.otherWorkspace(fresh('stranger'))
        const key = { 'x-api-key': stranger.key }
        for (const after of [id, `${id.slice(0, -8)}00000000`])
          assert.equal(
            (await service.ask('GET', `${sessions}?after=${after}`, undefined, key)).status,
            404,
          )
      },
    )

    verifies(
      ['openai/lists', 'openai/subagents/items-of-agents'],
      'messages of a thread of the session are no items of the session',
      async () => {
        const member = { name: 'member', model: 'offline', tools: [] }
        const agents = [await made('/v1/agents', member)]
        const id = await newSession(service, { multiagent: { type: 'coordinator', agents } })
        await turn(service, id, 'call create_agent {"agent": "member", "message": "say: apart"}')
        const threads = await service.ask<ListedObjects>('GET', `/v1/sessions/${id}/threads`)
        const child = threads.body.data.find((each) => each['parent_thread_id'] !== null)
        const events = `/v1/sessions/${id}/threads/${child?.id}/events`
        const said = async () =>
          (await service.ask<ListedObjects>('GET', events)).body.data.find(
            ({ type }) => type === 'agent.message',
          )
        await until(async () => (await said()) !== undefined)
        const apart = (await said())?.id ?? ''
        assert.ok(!(await idsOf(`${sessions}/${id}/items`)).includes(apart))
        const behind = await service.ask('GET', `${sessions}/${id}/items?after=${apart}`)
        assert.equal(behind.status, 400)
        assert.equal((await service.ask('GET', `${sessions}/${id}/turns/${apart}`)).status, 404)
      },
    )

    verifies(
      'openai/events/idempotency',
      'a key that races ten times is used once, and each session has its own',
      async () => {
        const key = fresh('key')
        const post = (id: string, text: string, headers: Record<string, string> = {}) =>
          service.raw(
            'POST',
            `${sessions}/${id}/events`,
            {
              events: [
                {
                  type: 'agent.session.input.message',
                  input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
                },
              ],
            },
            { 'idempotency-key': key, ...headers },
          )
        const [id, other] = [await newSession(service), await newSession(service)]
        const answers = await Promise.all(Array.from({ length: 10 }, () => post(id, 'say: once')))
        assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
        assert.equal((await post(id, 'say: twice')).status, 409)
        assert.equal((await post(other, 'say: twice')).status, 202)
        const { key: foreign } = await service.otherWorkspace(fresh('stranger'))
        assert.equal((await post(id, 'say: once', { 'x-api-key': foreign })).status, 404)
        assert.equal((await post(id, 'x', { 'idempotency-key': 'x'.repeat(256) })).status, 400)
        await turn(service, id, 'say: last')
        const log = await service.ask<ListedObjects>('GET', `/v1/sessions/${id}/events?limit=1000`)
        const said = log.body.data.filter(
          (event) =>
            event['type'] === 'user.message' && JSON.stringify(event).includes('say: once'),
        )
        assert.equal(said.length, 1)
      },
    )

    verifies(
      ['openai/errors', 'openai/events/functions', 'openai/events/approvals', 'openai/refusals'],
      'a refusal names the field of this surface, also for a feature that a sandbox lacks',
      async () => {
        const id = await newSession(service, { tools: [custom] })
        const asked = only(
          await turn(service, id, 'call look_up {"what": "x"}'),
          'agent.custom_tool_use',
        )
        const [turnId = ''] = await idsOf(`${sessions}/${id}/turns`)
        const result = (turn_id: string) => ({
          ...{ type: 'agent.session.input.tool_result', turn_id, call_id: asked.id },
          ...{ success: true, output: 'x' },
        })
        const approval = {
          type: 'agent.session.input.mcp_approval_request_result',
          request_id: asked.id,
          response: { type: 'mcp_tool_call', decision: 'approve' },
        }
        const desktop = {
          ...{ type: 'agent.session.input.computer_use_approval_request_result' },
          ...{ request_id: asked.id, response: { type: 'computer_use', decision: 'approve' } },
        }
        const unpriced = await unheardOfModel(service)
        const onto = (path: string) => ({
          ...hosted.environment,
          files: [{ type: 'file_id', file_id: 'file_of_nobody', path }],
        })
        const cases: [path: string, body: object, param: string][] = [
          [`${id}/events`, { events: [result(asked.id)] }, 'events.0.turn_id'],
          [`${id}/events`, { events: [approval] }, 'events.0.request_id'],
          [`${id}/events`, { events: [desktop] }, 'events.0.type'],
          [
            '',
            { ...hosted, agent: { model: unpriced }, spend_control: { limit: 5 } },
            'spend_control',
          ],
          ['', { ...hosted, review: 'auto_review' }, 'review'],
          ['', { ...hosted, environment: onto('/workspace/../x') }, 'environment.files.0.path'],
          [
            '',
            { ...hosted, environment: { ...hosted.environment, desktop: { enabled: true } } },
            'environment.desktop.enabled',
          ],
        ]
        for (const [path, body, param] of cases) {
          const refused = await service.ask(
            'POST',
            path === '' ? sessions : `${sessions}/${path}`,
            body,
          )
          assert.equal(refused.status, 400, param)
          assert.equal(errorOf(refused.body).param, param, errorOf(refused.body).message)
        }
        const right = await service.raw('POST', `${sessions}/${id}/events`, {
          events: [result(turnId)],
        })
        assert.equal(right.status, 202, await right.text())
      },
    )

    verifies(
      ['openai/sessions/list', 'openai/vaults'],
      'a filter by metadata takes its pair as it is, and no other',
      async () => {
        const pairs = { [oddText]: oddText, 'x"key': 'v', ['\0']: 'nul', plain: '%' }
        for (const [path, body] of [
          [sessions, hosted],
          [`${base}/vaults`, {}],
        ] as const) {
          const mark = fresh('mark')
          const id = await made(path, { ...body, metadata: { ...pairs, mark } })
          const found = (...asked: [string, string][]) =>
            idsOf(
              `${path}?${[['mark', mark], ...asked]
                .map(
                  ([key, value = '']) =>
                    `metadata[${encodeURIComponent(key ?? '')}]=${encodeURIComponent(value)}`,
                )
                .join('&')}`,
            )
          assert.deepEqual(await found([oddText, oddText]), [id], path)
          assert.deepEqual(await found(['x"key', 'v'], ['plain', '%']), [id], path)
          for (const [key, value] of [
            ['key', 'v'],
            ['plain', '_'],
            ['plain', 'x'],
            ['mark', 'another'],
            [`' or 1=1 --`, 'x'],
          ] as const)
            assert.deepEqual(await found([key, value]), [], `${path} ${key}`)
        }
      },
    )

    verifies(
      ['openai/vaults', 'openai/sessions/update', 'openai/automations/update'],
      'metadata that ten callers replace at once is that of one of them',
      async () => {
        const target = { type: 'existing_session', session_id: await newSession(service) }
        for (const [path, body] of [
          [sessions, hosted],
          [`${base}/vaults`, {}],
          [`${base}/agents`, { model: 'offline' }],
          [
            `${base}/agents/automations`,
            {
              ...{ type: 'periodic', name: 'x', expression: '0 9 * * *', timezone: 'UTC' },
              target: { ...target, instructions: 'say: x' },
            },
          ],
        ] as const) {
          const at = `${path}/${await made(path, { ...body, metadata: { first: 'x' } })}`
          await Promise.all(
            Array.from({ length: 10 }, (_, n) =>
              service.raw('POST', at, { metadata: { [`key-${n}`]: 'x' } }),
            ),
          )
          const { body: kept } = await service.ask('GET', at)
          assert.equal(Object.keys(kept['metadata'] as LooseBody).length, 1, path)
        }
      },
    )

    it('no answer holds a secret', async () => {
      const secrets = ['canary-of-a-token', 'canary-of-a-variable', 'canary-of-a-credential']
      const [token, variable, credential] = secrets
      const vault = await made(`${base}/vaults`, {})
      const auth = {
        type: 'static_bearer',
        token: credential,
        mcp_server_url: 'https://mcp.example.com/mcp',
      }
      const credentials = `${base}/vaults/${vault}/credentials`
      const transport = { type: 'http', server_url: 'https://x.example/mcp', authorization: token }
      const tools = [{ type: 'mcp', server_label: 'x', transport }]
      const created = await service.ask('POST', sessions, {
        agent: { model: 'offline', tools },
        environment: { type: 'openai_hosted', env: { WORD: variable } },
      })
      const { id } = created.body
      const answers: { body: object }[] = [
        created,
        await service.ask('POST', credentials, { name: 'x', auth }),
        await service.ask('POST', `${sessions}/${id}`, { agent: { tools } }),
        await service.ask('GET', `${sessions}/${id}`),
        await service.ask('GET', sessions),
        await service.ask('GET', credentials),
        await service.ask('GET', '/v1/ext/audit?limit=100'),
        await service.ask('POST', `${base}/agents`, { model: 'offline', tools }),
        await service.ask('POST', credentials, { name: 'x', auth: { ...auth, type: token } }),
      ]
      const said = JSON.stringify(answers.map(({ body }) => body))
      for (const secret of secrets) assert.ok(!said.includes(secret), secret)
    })

    it('no body makes the service fail', async () => {
      const session = await newSession(service)
      const routes = allRoutesOver(service.database).filter(
        ({ path, body }) => path.startsWith(`${base}/`) && body,
      )
      assert.ok(routes.length >= 8)
      const ids: Record<string, string> = {
        [`${base}/agents/:id`]: await made(`${base}/agents`, { model: 'offline' }),
        [`${sessions}/:id`]: session,
        [`${sessions}/:id/events`]: session,
        [`${base}/vaults/:id`]: await made(`${base}/vaults`, {}),
        [`${base}/skills/:id`]: await made(`${base}/skills`, {
          files: [{ filename: 'SKILL.md', content: skillText('spoilt', 'x', 'x') }],
        }),
        [`${base}/agents/automations/:id`]: await made(`${base}/agents/automations`, {
          ...{ type: 'periodic', name: 'x', expression: '0 9 * * *', timezone: 'UTC' },
          target: { type: 'existing_session', session_id: session, instructions: 'say: x' },
        }),
        [`${base}/agents/environments/templates/:id`]: await made(
          `${base}/agents/environments/templates`,
          {},
        ),
      }
      for (const route of routes) {
        const path = route.path.replace(':id', ids[route.path] ?? ids[`${base}/vaults/:id`] ?? '')
        const where = path.replace(':credential_id', 'vcrd_none')
        const examples = (route.body?.meta()?.examples ?? []) as unknown[]
        for (const body of [...examples, hosted].flatMap((each) => [...malformedBodies(each)])) {
          const answer = await service.raw(route.method.toUpperCase(), where, body as object)
          const text = await answer.text()
          assert.ok(answer.status < 500, `${where} ${JSON.stringify(body).slice(0, 500)}: ${text}`)
        }
      }
    })
  })
}
