/** Allow-lists of the operator and of a workspace. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe } from 'node:test'
import { makeRoot } from '@steward/sandbox/bubblewrap/root-fixture.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { RulesShown } from '@steward/protocol/rules.ts'
import type { McpHosts } from '../mcp.ts'
import { callTool, declareServer, mcpHosts, sessionOf } from '../mcp.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import { signedPublications } from '../signed-publication.ts'
import { fresh, newSession, only, textOf, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { delivered, haveEnded, newEndpoint } from '../webhooks.ts'

const path = '/v1/ext/rules'
const usage = { input: 1, output: 1 }

type Refusal = { error: { message: string; details?: { error_code?: string } } }

for (const database of scenarioDatabases(import.meta.filename))
  describe(`allow-lists on ${database}`, () => {
    const root = mkdtempSync(join(tmpdir(), 'steward-root-'))
    let service: TestService
    let hosts: McpHosts
    let stub: StubModel
    let receiver: PostReceiver
    before(async () => {
      makeRoot(root, ['/usr/bin/bash', '/usr/bin/cat'])
      stub = await startStub(anthropicDialect)
      receiver = await startReceiver()
      hosts = await mcpHosts({ '127.0.0.1': { port: Number(new URL(stub.url).port) } })
      service = await boot(database, {
        env: {
          SANDBOX_ROOTS: `small=${root},other=${root}`,
          ALLOWED_MCP_SERVERS: '*.api.example,stdio:files',
          ALLOWED_MODELS: `offline,anthropic/claude-*,${new URL(stub.url).host}/*`,
          ALLOWED_WEBHOOKS: `${receiver.base}/,hooks.example`,
          ALLOWED_IMAGES: 'small',
        },
      })
      hosts.mcp('open.api.example')
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
      await stub[Symbol.asyncDispose]()
      await receiver.close()
      rmSync(root, { recursive: true })
    })
    afterEach(() => change({ mcp_servers: null, models: null, webhooks: null, images: null }))

    async function change(allowed: object): Promise<RulesShown> {
      const { status, body } = await service.ask<RulesShown>('POST', path, { allowed })
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }

    /** The message of a refusal by a list. */
    async function refused(method: string, at: string, body: object): Promise<string> {
      const answer = await service.ask<Refusal>(method, at, body)
      assert.equal(answer.status, 403, JSON.stringify(answer.body))
      assert.equal(answer.body.error.details?.error_code, 'not_allowed_by_rule')
      return answer.body.error.message
    }

    const agent = (more: object) => ({ name: fresh('agent'), model: 'offline', ...more })
    const server = (url: string) => ({ name: 'srv', type: 'url', url })

    verifies(
      ['rules/get', 'rules/update', 'rules/pattern/refused'],
      'the lists of operator and workspace are shown, and admins change those of the workspace',
      async () => {
        const { body: before } = await service.ask<RulesShown>('GET', path)
        assert.deepEqual(before.allowed.images, { operator: ['small'], workspace: null })
        const changed = await change({ images: [], webhooks: ['*.example'] })
        assert.deepEqual(changed.allowed.images, { operator: ['small'], workspace: [] })
        assert.deepEqual(changed.allowed.webhooks.workspace, ['*.example'])
        const kept = await change({ images: null })
        assert.deepEqual(kept.allowed.images.workspace, null)
        assert.deepEqual(kept.allowed.webhooks.workspace, ['*.example'])

        const { workspace } = await service.otherWorkspace(fresh('other'))
        const made = await service.operatorKey(workspace, { name: 'k', admin: false })
        const member = clientsOf(service.base, made.key)
        assert.equal((await member.ask('GET', path)).status, 200)
        assert.equal((await member.ask('POST', path, { allowed: {} })).status, 403)

        const wrong = await service.ask<Refusal>('POST', path, {
          allowed: { mcp_servers: ['ok.example', 'https://x.example/*'] },
        })
        assert.equal(wrong.status, 400)
        assert.match(wrong.body.error.message, /^allowed\.mcp_servers\.1: has a \* in its path/)
        // Where each workspace has its own database, the lines are brought there a moment later.
        await until(async () => {
          const found = await service.ask('GET', '/v1/ext/audit?action=rule.update')
          return found.body.data.length === 2
        })
      },
    )

    verifies(
      ['rules/door', 'rules/refusal', 'rules/pattern/url', 'rules/pattern/model'],
      'what the operator does not list is refused where it is named, with the rule and who can change it',
      async () => {
        assert.equal(
          await refused('POST', '/v1/agents', agent({ model: 'gpt-5' })),
          'model: the model gpt-5 is not allowed on this server: ALLOWED_MODELS does not list it, and the operator can change that',
        )
        assert.match(
          await refused(
            'POST',
            '/v1/agents',
            agent({ mcp_servers: [server('https://api.example/')] }),
          ),
          /^mcp_servers\.0: the MCP server https:\/\/api\.example\/ is not allowed on this server: ALLOWED_MCP_SERVERS/,
        )
        assert.match(
          await refused('POST', '/v1/environments', { name: fresh('e'), base_image: 'other' }),
          /^base_image: the image other .*ALLOWED_IMAGES/,
        )
        const hook = { url: 'https://hooks.other/', enabled_events: ['*'] }
        assert.match(
          await refused('POST', '/v1/ext/webhook_endpoints', hook),
          /^url: the address of a webhook https:\/\/hooks\.other\/ .*ALLOWED_WEBHOOKS/,
        )
        const { id } = await newEndpoint(service, 'https://hooks.example/a')
        await refused('POST', `/v1/ext/webhook_endpoints/${id}`, { url: hook.url })
        const made = await service.ask('POST', '/v1/agents', agent({}))
        await refused('POST', `/v1/agents/${made.body.id}`, { model: 'gpt-5' })
        const session = await newSession(service)
        await refused('POST', `/v1/sessions/${session}`, {
          agent: { mcp_servers: [server('https://api.example/')] },
        })
      },
    )

    verifies(
      ['rules/pattern/own-endpoint', 'rules/door'],
      'a card that leads elsewhere does not take the name of a model that is allowed',
      async () => {
        const card = { provider: 'ant-compatible', model: 'claude-a', api_key: 'key' }
        const message = await refused('POST', '/v1/ext/model_cards', {
          ...card,
          ...{ model_id: 'claude-a', base_url: 'https://elsewhere.example' },
        })
        assert.match(message, /^model: the model elsewhere\.example\/claude-a is not allowed/)
      },
    )

    verifies(
      ['rules/use', 'rules/refusal'],
      'a list that becomes shorter ends the turn of a session at its model, and a longer one lets it go on',
      async () => {
        const model = await pricedModel(service, stub, undefined)
        const session = await newSession(service, { model })
        await change({ models: ['offline'] })
        const error = JSON.stringify(only(await turn(service, session, 'go'), 'session.error'))
        assert.match(
          error,
          /stub-1 is not allowed in this workspace: its rule models does not list it, and an owner or an admin/,
        )
        assert.match(
          await refused('POST', '/v1/agents', agent({ model })),
          /^model: the model [^ ]+\/stub-1 is not allowed in this workspace/,
        )
        const again = { agent: JSON.parse(await sessionText(session)).agent.id as string }
        const environment_id = JSON.parse(await sessionText(session)).environment_id as string
        await refused('POST', '/v1/sessions', { ...again, environment_id })
        await change({ models: null })
        stub.replies(says('one', usage))
        assert.equal(textOf(only(await turn(service, session, 'go'), 'agent.message')), 'one')
      },
    )

    const sessionText = async (id: string) =>
      JSON.stringify((await service.ask('GET', `/v1/sessions/${id}`)).body)

    verifies(
      'rules/use',
      'a webhook is not posted to an address that is no longer allowed',
      async () => {
        const endpoint = await newEndpoint(service, `${receiver.base}/hook`, ['session.created'])
        await change({ webhooks: ['hooks.example'] })
        await service.ask('POST', `/v1/ext/webhook_endpoints/${endpoint.id}/test`, {})
        const [delivery] = await delivered(service, endpoint.id, (all) =>
          all.some(({ attempts }) => attempts.length > 0),
        )
        assert.match(
          String(delivery?.attempts[0]?.error),
          /is not allowed in this workspace: its rule webhooks/,
        )
        assert.deepEqual(receiver.posted, [])
        await change({ webhooks: null })
        await service.ask('POST', `/v1/ext/webhook_endpoints/${endpoint.id}/test`, {})
        await delivered(service, endpoint.id, (all) => haveEnded(all.slice(0, 1)))
        assert.equal(receiver.posted.length, 1)
      },
    )

    verifies(
      ['rules/door', 'rules/pattern/url'],
      'the address for the answers of a publication is one of a webhook',
      async () => {
        const environment = await service.client.beta.environments.create({ name: fresh('e') })
        const made = await service.ask('POST', '/v1/agents', agent({}))
        const mapping = { scope: '/issue', author: '/user', text: '/text' }
        const message = await refused('POST', signedPublications, {
          ...{ agent: made.body.id, environment_id: environment.id },
          webhook: { mapping, authors: ['ada'], answer_url: 'https://hooks.other/' },
        })
        assert.match(message, /^webhook\.answer_url: the address of a webhook/)
      },
    )

    verifies(
      ['rules/use', 'rules/door'],
      'a sandbox does not start from an image that is no longer allowed',
      async () => {
        const made = await service.ask('POST', '/v1/environments', {
          ...{ name: fresh('e'), base_image: 'small' },
        })
        const tools = [{ type: 'agent_toolset_20260401' }]
        const session = await newSession(service, { tools }, { environment_id: made.body.id })
        await change({ images: [] })
        const command = `call bash ${JSON.stringify({ command: 'echo out' })}`
        const seen = JSON.stringify(await turn(service, session, command))
        assert.match(seen, /the image small is not allowed in this workspace: its rule images/)
        const other = await service.ask('POST', '/v1/agents', agent({ tools }))
        assert.match(
          await refused('POST', '/v1/sessions', {
            ...{ agent: other.body.id, environment_id: made.body.id },
          }),
          /^environment\.base_image: the image small/,
        )
        await change({ images: null })
        assert.match(
          textOf(only(await turn(service, session, command), 'agent.tool_result')),
          /out/,
        )
      },
    )

    verifies(
      ['rules/pattern/stdio', 'rules/door'],
      'a server that a worker starts is named by stdio: and its name',
      async () => {
        const own = (name: string) => ({
          ...{ name, type: 'stdio', stdio: { command: 'serve', port: 4711 } },
        })
        const listed = await service.ask(
          'POST',
          '/v1/agents',
          agent({ mcp_servers: [own('files')] }),
        )
        assert.equal(listed.status, 200, JSON.stringify(listed.body))
        assert.match(
          await refused('POST', '/v1/agents', agent({ mcp_servers: [own('shell')] })),
          /^mcp_servers\.0: the MCP server stdio:shell is not allowed/,
        )
      },
    )
  })

for (const database of scenarioDatabases(import.meta.filename))
  describe(`MCP servers of running sessions on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp('open.api.example')
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
    })

    verifies(
      'rules/use',
      'an MCP server that is no longer allowed is not called, by a turn or by a probe',
      async () => {
        const session = await sessionOf(service, { servers: [declareServer('open.api.example')] })
        const echo = callTool('mcp__open__echo', { text: 'hello' })
        const first = await turn(service, session, echo)
        assert.equal(textOf(only(first, 'agent.mcp_tool_result')), 'hello')
        const calls = hosts.noted.length
        await service.ask('POST', path, { allowed: { mcp_servers: ['other.example'] } })
        const seen = JSON.stringify(await turn(service, session, echo))
        assert.match(seen, /is not allowed in this workspace: its rule mcp_servers/)
        const probe = await service.ask('POST', '/v1/ext/mcp_probes', {
          url: 'https://open.api.example/mcp',
        })
        assert.match(JSON.stringify(probe.body['error']), /its rule mcp_servers/)
        assert.equal(hosts.noted.length, calls)
      },
    )
  })
