/** Each operation of the newest and an older `openai` client, subagents, traces, and the page of the docs. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type OpenAI from 'openai'
import { ConflictError, NotFoundError } from 'openai'
import type { OpenAITrace } from '@steward/protocol/openai/traces.ts'
import { allRoutesOver, openaiRoutesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { uploadFile } from '../files.ts'
import { startHeldModel } from '../held-model.ts'
import { restrictionsIn, withOperations } from '../openai-page.ts'
import { newestOpenAI, oldestOpenAI } from '../openai.ts'
import { runProgram } from '../program.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, post, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const root = join(import.meta.dirname, '../..')

const messageEvents = [
  ...['item.added', 'content_part.added', 'output_text.delta'],
  ...['output_text.done', 'content_part.done', 'item.done'],
]

const spansOf = (otlp: unknown) =>
  (otlp as OpenAITrace['otlp'] | undefined)?.resourceSpans[0]?.scopeSpans[0]?.spans ?? []

const tokensOf = ([turn]: readonly OpenAI.Beta.Agents.Sessions.Turn[]): number =>
  turn?.usage?.total_tokens ?? 0

const call = /_client\.(get|post|delete|getAPIList)\(\s*(?:path\s*`([^`]+)`|'([^']+)')/g

/** The requests of the client, read from its sources. */
async function operationsOf(client: 'openai' | 'openai-older') {
  const found = new Map<string, { method: string; path: string; pattern: RegExp }>()
  const folder = join(root, 'node_modules', client, 'resources/beta/agents')
  for await (const name of glob('**/*.mjs', { cwd: folder })) {
    const source = (await readFile(join(folder, name), 'utf8')).replaceAll(/\/\*[^]*?\*\//g, '')
    for (const [, verb = '', templated, plain] of source.matchAll(call)) {
      const method = verb.replace('APIList', '').toUpperCase()
      const path = (templated ?? plain ?? '').replaceAll(/\$\{[^}]*\}/g, ':id')
      const pattern = new RegExp(`^/openai/v1${path.replaceAll(':id', '[^/]+')}$`)
      found.set(`${method} ${path}`, { method, path, pattern })
    }
  }
  return [...found.values()]
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the clients of the OpenAI surface on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    let page: string
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
      page = await readFile(join(root, 'docs/openai.md'), 'utf8')
    })
    after(() => service.close())

    const idsOf = async (list: AsyncIterable<{ id: string | null }>): Promise<string[]> =>
      (await Array.fromAsync(list)).map(({ id }) => id ?? '')

    it('has a page whose program drives one session by two clients', async () => {
      const [, program = ''] = /```js\n([^]*?)```/.exec(page) ?? []
      const [, expected = ''] = /```\n(openai asked[^]*?)```/.exec(page) ?? []
      const { code, said } = await runProgram(service, program)
      assert.equal(code, 0, said)
      assert.equal(said, expected)
    })

    verifies(
      ['openai/described', 'openai/refusals', 'openai/wishes'],
      'the page says what the schemas say (else: node scripts/openai-page.ts)',
      () => {
        const routes = openaiRoutesOver(service.database)
        assert.equal(page, withOperations(page, routes))
        const [, ...others] = routes.filter(({ path }) => path.startsWith('/openai/v1/agents'))
        assert.notEqual(page, withOperations(page, others))
        const [sessions] = routes.filter(
          ({ method, path }) => method === 'post' && path === '/openai/v1/agents/sessions',
        )
        assert.ok(sessions?.body)
        const found = restrictionsIn(sessions.body)
        const pathsOf = (kind: string) =>
          found.filter((each) => each.kind === kind).map(({ path }) => path)
        assert.ok(pathsOf('refused').includes('environment.plugins'))
        assert.ok(pathsOf('unmet').includes('agent.tools[].defer_loading'))
      },
    )

    verifies('openai/described', 'the page names each operation of the client', async () => {
      const [, table = ''] = /## Supported operations\n([^]*?)\n## /.exec(page) ?? []
      const named = [...table.matchAll(/^\| `(\w+) (\S+)` \|/gm)].map(
        ([, method, path]) => `${method} ${path}`,
      )
      const routes = allRoutesOver(service.database).flatMap(({ method, path }) => {
        const [, below] = /^\/openai\/v1(\/(?:agents|vaults).*)$/.exec(path) ?? []
        return below === undefined ? [] : [`${method.toUpperCase()} ${below}`]
      })
      assert.deepEqual(named.toSorted(), routes.toSorted())
      const operations = await operationsOf('openai')
      assert.ok(operations.length >= 57)
      for (const { method, path, pattern } of operations)
        assert.ok(
          routes.some((route) => {
            const [by, at = ''] = route.split(' ')
            return by === method && pattern.test(`/openai/v1${at}`)
          }),
          `${method} ${path}`,
        )
    })

    verifies(
      'openai/errors',
      'the client repeats requests whose failure may pass, and no conflict',
      async () => {
        const asked: string[] = []
        const fails = [503, 429]
        const patient = newestOpenAI(service).withOptions({
          maxRetries: 2,
          async fetch(url, init) {
            asked.push(`${init?.method}`)
            const status = fails.shift()
            if (status === undefined) return fetch(url, init)
            return new Response('{}', { status, headers: { 'retry-after-ms': '1' } })
          },
        })
        const { id } = await patient.beta.agents.create({ model: 'offline' })
        assert.equal(asked.length, 3)
        await using held = await startHeldModel(service, 'never said')
        const { id: running } = await agents.sessions.create({
          agent: { model: held.model },
          environment: { type: 'none' },
          input: 'go on',
        })
        await held.asked
        await assert.rejects(patient.beta.agents.sessions.delete(running), ConflictError)
        await assert.rejects(agents.sessions.delete(running), { code: 'conflict_error' })
        assert.equal(asked.length, 4)
        await patient.beta.agents.delete(id)
      },
    )

    verifies('versions/openai', 'the older client makes each of its calls', async () => {
      const called = new Set<string>()
      const older = oldestOpenAI(service).withOptions({
        async fetch(url, init) {
          const answer = await fetch(url, init)
          const { pathname } = new URL(String(url instanceof Request ? url.url : url))
          if (answer.ok) called.add(`${init?.method?.toUpperCase()} ${pathname}`)
          return answer
        },
      })
      const { agents: all } = older.beta
      const { environments, sessions, vaults } = all
      const agent = await all.create({ model: 'offline', multi_agent: { enabled: true } })
      assert.deepEqual(await all.retrieve(agent.id), agent)
      assert.equal((await all.update(agent.id, { name: 'clerk' })).name, 'clerk')
      assert.ok((await idsOf(all.list({ limit: 1 }))).includes(agent.id))

      const template = await environments.templates.create({ env: { WORD: 'older' } })
      const changed = await environments.templates.update(template.id, { name: fresh('named') })
      assert.deepEqual(await environments.templates.retrieve(template.id), changed)
      assert.ok((await idsOf(environments.templates.list({ limit: 1 }))).includes(template.id))

      const vault = await vaults.create({ name: 'Keys' })
      assert.deepEqual(await vaults.retrieve(vault.id), vault)
      assert.ok((await idsOf(vaults.list({ limit: 1 }))).includes(vault.id))
      const auth = {
        type: 'static_bearer' as const,
        token: 'a-token',
        mcp_server_url: 'https://mcp.example.com/mcp',
      }
      const credential = await vaults.credentials.create(vault.id, { name: 'Tracker', auth })
      const ofVault = { vault_id: vault.id }
      await vaults.credentials.update(credential.id, {
        ...ofVault,
        auth: { type: 'static_bearer', token: 'another-token' },
      })
      assert.equal((await vaults.credentials.retrieve(credential.id, ofVault)).name, 'Tracker')
      assert.deepEqual(await idsOf(vaults.credentials.list(vault.id, { limit: 1 })), [
        credential.id,
      ])

      const begins = { name: 'helper', system: 'You help.', message: 'say: helped' }
      const file = 'run: echo $WORD > /mnt/session/outputs/word.txt'
      const session = await sessions.create({
        agent_id: agent.id,
        environment: { type: 'openai_hosted', environment_template_id: template.id },
        vault_ids: [vault.id],
      })
      const { id } = session
      const of = { session_id: id }
      const seen: string[] = []
      const turnOfBoth = sessions.stream(id, {
        input: `${file}\ncall create_agent ${JSON.stringify(begins)}`,
      })
      for await (const { type } of turnOfBoth) seen.push(type)
      assert.equal(seen.at(-1), 'agent.session.idle')
      assert.ok(seen.includes('agent.session.subagent.created'))
      assert.equal((await sessions.retrieve(id)).status, 'idle')
      await sessions.update(id, { metadata: { ticket: '7' } })
      assert.ok((await idsOf(sessions.list({ limit: 1 }))).includes(id))

      const [turn] = await Array.fromAsync(sessions.turns.list(id, { limit: 1 }))
      assert.ok(turn)
      assert.deepEqual(await sessions.turns.retrieve(turn.id, of), turn)
      assert.ok((await Array.fromAsync(sessions.items.list(id, { limit: 1 }))).length > 4)
      const [subagent] = await Array.fromAsync(sessions.subagents.list(id, { limit: 1 }))
      assert.ok(subagent)
      assert.deepEqual(await sessions.subagents.retrieve(subagent.id, of), subagent)
      const own = { ...of, subagent_id: subagent.id }
      const { turns, items } = sessions.subagents
      const [below] = await Array.fromAsync(turns.list(subagent.id, { ...of, limit: 1 }))
      assert.ok(below)
      assert.deepEqual(await turns.retrieve(below.id, own), below)
      const said = await idsOf(turns.items.list(below.id, { ...own, limit: 1 }))
      assert.deepEqual(await idsOf(items.list(subagent.id, { ...of, limit: 1 })), said)

      const [artifact] = await Array.fromAsync(sessions.artifacts.list(id, { limit: 1 }))
      assert.equal(artifact?.turn_id, turn.id)
      assert.deepEqual(await sessions.artifacts.retrieve(artifact.id, of), artifact)
      const content = await sessions.artifacts.content(artifact.id, of)
      assert.equal(await content.text(), 'older\n')
      await sessions.artifacts.delete(artifact.id, of)
      const { id: file_id } = await uploadFile(service, { content: 'x' })
      const added = { type: 'file_id', file_id, path: '/workspace/x.txt' } as const
      await environments.files.create(template.id, added)
      const paths = await Array.fromAsync(environments.files.list(template.id, { limit: 1 }))
      assert.deepEqual(
        paths.map(({ path }) => path),
        ['/workspace/x.txt'],
      )
      assert.equal((await environments.retrieve(template.id)).status, 'ready')

      assert.equal((await sessions.delete(id)).deleted, true)
      await vaults.credentials.delete(credential.id, ofVault)
      await vaults.delete(vault.id)
      await environments.templates.delete(template.id)
      await all.delete(agent.id)
      const missing = (await operationsOf('openai-older')).filter(
        ({ method, pattern }) =>
          ![...called].some((each) => {
            const [by, path = ''] = each.split(' ')
            return by === method && pattern.test(path)
          }),
      )
      assert.deepEqual(missing, [])
    })

    verifies(
      [
        'openai/subagents/list',
        'openai/subagents/get',
        'openai/subagents/turns',
        'openai/subagents/turn',
        'openai/subagents/turn-items',
        'openai/subagents/items',
        'openai/subagents/items-of-agents',
        'openai/subagents/stream',
      ],
      'an agent starts a subagent, whose function the caller runs, and lists show both',
      async () => {
        const told = 'call price_of {"thing": "tea"}'
        const begins = { name: 'clerk', system: 'You know prices.', message: told }
        const price = { type: 'function' as const, name: 'price_of', description: 'Tells prices' }
        const stream = await agents.sessions.create({
          agent: {
            model: 'offline',
            multi_agent: { enabled: true },
            tools: [{ ...price, parameters: { type: 'object', properties: {} } }],
          },
          environment: { type: 'none' },
          input: `call create_agent ${JSON.stringify(begins)}`,
          stream: true,
          toolHandlers: { price_of: () => 'tea costs 3' },
        })
        const events: OpenAI.Beta.AgentSessionEvent[] = []
        for await (const event of stream) events.push(event)
        const [begun] = events
        assert.equal(begun?.type, 'agent.session.created')
        const { id, agent } = begun.session
        assert.equal(agent.multi_agent.enabled, true)
        const of = { session_id: id }
        const { subagents } = agents.sessions
        const [subagent] = (await subagents.list(id, { limit: 1 })).data
        assert.ok(subagent)
        assert.deepEqual(subagent, await subagents.retrieve(subagent.id, of))
        const { name, status, parent_agent_id, instructions } = subagent
        assert.deepEqual([name, status, parent_agent_id], ['clerk', 'active', agent.id])
        assert.deepEqual(instructions, [{ type: 'output_text', text: told }])
        const own = { ...of, subagent_id: subagent.id }
        const [only, ...others] = (await subagents.turns.list(subagent.id, of)).data
        assert.ok(only)
        assert.deepEqual(others, [])
        assert.deepEqual([only.status, only.subagent_id], ['completed', subagent.id])
        assert.ok(tokensOf([only]) > 0)
        assert.deepEqual(await subagents.turns.retrieve(only.id, own), only)
        const ofBoth = (await agents.sessions.turns.list(id)).data
        assert.ok(tokensOf(ofBoth) > tokensOf([only]))
        const items = []
        const page = { ...own, limit: 1, order: 'asc' as const }
        for await (const item of subagents.turns.items.list(only.id, page)) items.push(item)
        assert.deepEqual(
          items.map(({ type }) => type),
          ['agent_message', 'function_call', 'function_call_output', 'message'],
        )
        const listed = await idsOf(subagents.items.list(subagent.id, { ...of, order: 'asc' }))
        assert.deepEqual(listed, await idsOf(subagents.turns.items.list(only.id, page)))
        const ofChild = events.flatMap((event) =>
          'turn_id' in event && event.turn_id === only.id ? [event] : [],
        )
        const types = ofChild.map(({ type }) => type.replace('agent.session.turn.', ''))
        // An answer that comes before the turn rests continues the turn without another `in_progress`.
        assert.deepEqual(
          types.filter((type, n) => type !== 'in_progress' || n === 1),
          ['created', 'in_progress', 'item.added', 'item.done', ...messageEvents, 'completed'],
        )
        const last = ofChild.at(-1)
        assert.ok(last?.type === 'agent.session.turn.completed')
        assert.deepEqual(last.turn, only)
        const done = ofChild.flatMap((event) =>
          event.type === 'agent.session.turn.item.done' ? [[event.item, event.output_index]] : [],
        )
        assert.deepEqual(done, [
          [items[1], 0],
          [items[3], 1],
        ])
        const created = events.find((event) => event.type === 'agent.session.subagent.created')
        assert.equal(created?.subagent.id, subagent.id)
        const root = (await agents.sessions.items.list(id, { order: 'asc' })).data
        const started = root.find(({ type }) => type === 'create_subagent_call')
        assert.ok(started?.type === 'create_subagent_call')
        assert.deepEqual([started.agent_id, started.status], [subagent.id, 'completed'])
        const heard = root.find(({ type }) => type === 'agent_message')
        assert.ok(heard?.type === 'agent_message')
        assert.deepEqual([heard.sender_agent_id, heard.recipient_agent_id], [subagent.id, agent.id])
        assert.ok(!root.some(({ type }) => type === 'function_call'))
        const [trace] = (await agents.sessions.traces.list(id)).data
        const [whole, ...spans] = spansOf(trace?.otlp)
        const ofSubagent = spans.find(({ name }) => name === 'invoke_agent')
        assert.equal(ofSubagent?.parentSpanId, whole?.spanId)
        const below = spans.filter(({ parentSpanId }) => parentSpanId === ofSubagent?.spanId)
        assert.deepEqual(below.map((span) => span.name).toSorted(), [
          'chat',
          'chat',
          'execute_tool price_of',
        ])
        const live = await agents.sessions.events.stream(id)
        await service.client.beta.sessions.threads.archive(subagent.id, of)
        const closed = await subagents.retrieve(subagent.id, of)
        for await (const event of live) {
          if (event.type !== 'agent.session.subagent.closed') continue
          assert.deepEqual(event.subagent, closed)
          break
        }
        assert.equal(closed.status, 'closed')
        assert.ok(closed.closed_at)
        const absent = { session_id: id, subagent_id: 'sthr_none' }
        await assert.rejects(subagents.retrieve('sthr_none', of), NotFoundError)
        await assert.rejects(subagents.turns.retrieve(only.id, absent), NotFoundError)
        await assert.rejects(agents.sessions.turns.retrieve(only.id, of), NotFoundError)
      },
    )

    verifies(
      ['openai/traces', 'openai/traces/spans'],
      'a trace shows when a finished turn asked the model and ran tools, and none of their content',
      async () => {
        const stream = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: { type: 'openai_hosted' } },
          input: 'run: echo hidden-word\nsay: done',
          stream: true,
        })
        const { session_id: id } = await stream.finalResult()
        await turn(service, id, 'say: hi')
        const turns = await idsOf(agents.sessions.turns.list(id))
        const traces = await Array.fromAsync(agents.sessions.traces.list(id, { limit: 1 }))
        assert.equal(traces.map((trace) => trace.id).join(), turns.join())
        const [whole, ...work] = spansOf(traces.at(-1)?.otlp)
        assert.equal(whole?.name, 'invoke_agent')
        assert.deepEqual(
          new Set(work.map(({ name }) => name)),
          new Set(['chat', 'execute_tool bash']),
        )
        for (const span of work) {
          assert.equal(span.parentSpanId, whole.spanId)
          assert.ok(span.startTimeUnixNano >= whole.startTimeUnixNano)
          assert.ok(span.endTimeUnixNano <= whole.endTimeUnixNano)
        }
        assert.ok(!JSON.stringify(traces).includes('hidden-word'))
        await using held = await startHeldModel(service, 'never said')
        await agents.sessions.update(id, { agent: { model: held.model } })
        await post(service, id, 'go on')
        await held.asked
        await post(service, id, 'and on')
        const meanwhile = await Array.fromAsync(agents.sessions.traces.list(id, { limit: 1 }))
        assert.deepEqual(meanwhile, traces)
      },
    )
  })
}
