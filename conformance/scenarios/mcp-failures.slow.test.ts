import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { runOnce } from '@steward/base/shared-runs.ts'
import Anthropic from '@anthropic-ai/sdk'
import {
  echoServer,
  streamableHttp,
  streamablePeer,
} from '@steward/harness/tools/mcp/mcp-fixture.ts'
import type { RawRequest } from '@steward/harness/tools/mcp/raw-fixture.ts'
import { validTool, rawAnswers } from '@steward/harness/tools/mcp/raw-fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, callTool, errorsOf, mcpHosts, sessionOf, until, vaultOf } from '../mcp.ts'
import type { ServerProcess } from '../process.ts'
import { localSettings, startServer } from '../process.ts'
import { openStream, readStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { all, fresh, idleOf, logOf, message, only, post, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const echo = (server: string) => callTool(`mcp__${server}__echo`, { text: 'hello' })

/** A server whose tool answers only when it is cancelled. `called` and `cancelled` resolve at these moments. */
function waiting() {
  const [called, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const make = () =>
    echoServer((server) =>
      server.registerTool('wait', { description: 'waits' }, async (context) => {
        context.mcpReq.signal.addEventListener('abort', () => cancelled.resolve())
        called.resolve()
        await cancelled.promise
        return { content: [] }
      }),
    )
  return { make, called: called.promise, cancelled: cancelled.promise }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`MCP servers that fail, on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    const sleeps: number[] = []
    /**
     * Time limit of a server's discovery: a tenth of the real limit, for tests that wait for the hanging server only.
     */
    let discoveryMs = 1_500
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp('open.api.example')
      const clock = {
        ...systemClock,
        sleep(ms: number, signal: AbortSignal) {
          sleeps.push(ms)
          return systemClock.sleep(ms === 15_000 ? discoveryMs : ms, signal)
        },
      }
      service = await boot(database, { overrides: { nameOverride: hosts.outside, clock } })
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    verifies(
      ['mcp/discovery/limit', 'limits/mcp-discovery', 'mcp/discovery/told'],
      'a server that hangs is given up after 15 seconds, alone, and reported before the model is asked',
      async () => {
        hosts.set('hanging.api.example', () => new Promise(() => {}))
        const session = await sessionOf(service, {
          servers: [declareServer('hanging.api.example'), declareServer('open.api.example')],
        })
        const events = await turn(service, session, echo('open'))
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'hello')
        assert.ok(sleeps.includes(15_000))
        const [error = ''] = errorsOf(events)
        assert.match(error, /^mcp_connection_failed_error hanging .*within 15000 ms/)
        const log = await logOf(service, session)
        const types = log.map(({ type }) => type)
        assert.ok(types.indexOf('session.error') < types.indexOf('span.model_request_start'))
        const next = await turn(service, session, echo('hanging'))
        assert.equal(all(next, 'agent.mcp_tool_use').length, 0)
      },
    )

    verifies(
      ['mcp/discovery/odd-entries', 'mcp/results/odd-blocks'],
      'a server with an odd entry and odd results keeps its good tools and texts, and the omitted ones are named',
      async () => {
        const odd = { name: 'odd', inputSchema: { type: 'string' }, title: null }
        const content = [{ type: 'hologram' }, { type: 'text', text: 'beside', annotations: null }]
        const answer = rawAnswers(({ method }) => {
          if (method === 'tools/list')
            return { result: { tools: [odd, validTool('echo')], nextCursor: null }, error: null }
          return method === 'tools/call' ? { result: { content } } : undefined
        })
        hosts.set('odd.api.example', answer)
        const session = await sessionOf(service, { servers: [declareServer('odd.api.example')] })
        const events = await turn(service, session, echo('odd'))
        const result = textOf(only(events, 'agent.mcp_tool_result'))
        assert.match(result, /"hologram" left out/)
        assert.match(result, /beside$/)
        const [error = '', ...others] = errorsOf(events)
        assert.match(error, /odd is used in part; left out of its tools: "odd" /)
        assert.deepEqual(others, [])
      },
    )

    verifies(
      ['mcp/discovery/no-tools', 'mcp/calls/ended', 'mcp/calls/new-session'],
      'a server without tools is reported, a call without an answer is an error at once, and a lost session begins anew',
      async () => {
        const serverInfo = { name: 'bare', version: '1' }
        const bare = rawAnswers(({ method, params }) =>
          method === 'initialize'
            ? { result: { ...params, capabilities: {}, serverInfo } }
            : { error: { code: -32_601, message: 'no such method' } },
        )
        hosts.set('bare.api.example', bare)
        let sessions = 0
        const answers = [new Response(null, { status: 202 }), new Response('lost', { status: 503 })]
        const answer = ({ method }: RawRequest) =>
          method === 'tools/call' ? answers.shift() : undefined
        hosts.set(
          'ends.api.example',
          rawAnswers(answer, () => String(++sessions)),
        )
        const session = await sessionOf(service, {
          servers: [declareServer('bare.api.example'), declareServer('ends.api.example')],
        })
        const one = callTool('mcp__ends__one')
        const events = await turn(service, session, one)
        assert.match(textOf(only(events, 'agent.mcp_tool_result')), /gave no answer to it \(202\)/)
        assert.match(errorsOf(events).join('\n'), /bare .*all \(it announces none\)/)
        const lost = await turn(service, session, one)
        assert.match(textOf(only(lost, 'agent.mcp_tool_result')), /lost/)
        assert.equal(sessions, 1)
        const again = await turn(service, session, one)
        assert.equal(textOf(only(again, 'agent.mcp_tool_result')), 'done')
        assert.equal(sessions, 2)
      },
    )

    verifies(
      ['mcp/discovery/waits'],
      'the first model request has the tools of a server that is slow to begin',
      async () => {
        const host = 'slow.api.example'
        const slow = streamableHttp(() => echoServer())
        const delay = runOnce(() => systemClock.sleep(1_200, new AbortController().signal))
        hosts.set(host, async (request) => {
          await delay()
          return slow.answer(request)
        })
        discoveryMs = 15_000
        const session = await sessionOf(service, { servers: [declareServer(host)] })
        const events = await turn(service, session, echo('slow'))
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'hello')
        assert.deepEqual(errorsOf(events), [])
        discoveryMs = 1_500
      },
    )

    verifies(
      ['events/type/error'],
      'the session reports which server failed and how, goes on, and tries again at its next turn',
      async () => {
        hosts.set('broken.api.example', () => new Response('no', { status: 500 }))
        hosts.set('shut.api.example', () => new Response('no', { status: 403 }))
        const session = await sessionOf(service, {
          servers: [
            declareServer('broken.api.example'),
            declareServer('shut.api.example'),
            declareServer('open.api.example'),
          ],
        })
        const events = await turn(service, session, echo('open'))
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'hello')
        const [shut = '', broken = '', ...more] = errorsOf(events).toSorted()
        assert.match(shut, /^mcp_authentication_failed_error shut /)
        assert.match(broken, /^mcp_connection_failed_error broken /)
        assert.deepEqual(more, [])
        assert.deepEqual(idleOf(events).stop_reason, { type: 'end_turn' })
        hosts.mcp('broken.api.example')
        const next = await turn(service, session, echo('broken'))
        assert.equal(textOf(only(next, 'agent.mcp_tool_result')), 'hello')
      },
    )

    verifies(
      ['mcp/tools/called'],
      'a server that was started again is connected again, and a server whose tools change is listed again',
      async () => {
        const server = hosts.mcp('changing.api.example')
        const session = await sessionOf(service, {
          servers: [declareServer('changing.api.example')],
        })
        const first = await turn(service, session, echo('changing'))
        assert.equal(textOf(only(first, 'agent.mcp_tool_result')), 'hello')
        server.forget()
        const second = await turn(service, session, echo('changing'))
        assert.equal(textOf(only(second, 'agent.mcp_tool_result')), 'hello')
        // The newest connection listens between turns and hears of a new tool.
        const host = 'changing.api.example'
        const asks = (method: string) => hosts.of(host).filter((each) => each.method === method)
        await until(() => asks('GET').length === 2)
        const listed = asks('POST').length
        const newest = server.servers.at(-1)
        newest?.registerTool('late', { description: 'came later' }, () => ({
          content: [{ type: 'text', text: 'here' }],
        }))
        await until(() => {
          newest?.sendToolListChanged()
          return asks('POST').length > listed
        })
        const third = await turn(service, session, callTool('mcp__changing__late'))
        assert.equal(textOf(only(third, 'agent.mcp_tool_result')), 'here')
      },
    )

    verifies(
      ['turns/interrupt'],
      'an interrupt cancels the call at its server, and the call ends with an error result',
      async () => {
        const { make, called, cancelled } = waiting()
        hosts.set('waiting.api.example', streamableHttp(make).answer)
        const session = await sessionOf(service, {
          servers: [declareServer('waiting.api.example')],
        })
        const path = `/v1/sessions/${session}/events/stream`
        await using stream = await openStream(service, path)
        await post(service, session, callTool('mcp__waiting__wait'))
        await called
        await post(service, session, { type: 'user.interrupt' })
        await cancelled
        const frames = await stream.untilType('session.status_idle')
        const events = frames.map(({ data }) => data)
        const result = only(events, 'agent.mcp_tool_result')
        assert.equal(result['is_error'], true)
        assert.match(textOf(result), /interrupted/)
        const next = await turn(service, session, echo('waiting'))
        assert.equal(textOf(only(next, 'agent.mcp_tool_result')), 'hello')
      },
    )

    verifies(
      ['environments/network/denylist'],
      'a server on the denylist is not contacted, and the session reports it',
      async () => {
        hosts.mcp('denied.api.example')
        const session = await sessionOf(service, {
          servers: [declareServer('denied.api.example')],
          tools: [{ type: 'agent_toolset_20260401' }],
          environment: { network: { denylist: ['denied.api.example'] } },
        })
        const events = await turn(service, session, 'run: echo hello')
        assert.match(errorsOf(events)[0] ?? '', /denied .*denylist/)
        // The command did not ask for the host, so the log has no warning about the host.
        assert.equal(textOf(only(events, 'agent.tool_result')), 'hello\n')
        assert.deepEqual(all(await logOf(service, session), 'session.warning'), [])
        assert.deepEqual(hosts.of('denied.api.example'), [])
      },
    )

    verifies(
      ['environments/update/new-sandboxes'],
      'changed lists apply to what begins afterwards, even over connections that were open',
      async () => {
        hosts.mcp('listed.api.example')
        hosts.set('other.example', () => new Response('hello'))
        const environment = await service.ask('POST', '/v1/environments', {
          name: fresh('environment'),
        })
        const session = await sessionOf(service, {
          servers: [declareServer('listed.api.example')],
          tools: [{ type: 'agent_toolset_20260401' }],
          environment_id: environment.body.id,
        })
        const fetching = callTool('web_fetch', { url: 'https://other.example/' })
        const first = await turn(service, session, `${echo('listed')}\n${fetching}`)
        assert.equal(only(first, 'agent.tool_result')['is_error'], false)
        const change = { network: { denylist: ['other.example', 'listed.api.example'] } }
        const path = `/v1/environments/${environment.body.id}`
        assert.equal((await service.ask('POST', path, change)).status, 200)
        const next = await turn(service, session, fetching)
        assert.equal(only(next, 'agent.tool_result')['is_error'], true)
        assert.match(errorsOf(next)[0] ?? '', /listed .*denylist/)
      },
    )

    verifies(
      ['sessions/update'],
      'a server that a session no longer names is asked to end its session',
      async () => {
        const host = 'leaving.api.example'
        hosts.mcp(host)
        const session = await sessionOf(service, { servers: [declareServer(host)] })
        await turn(service, session, echo('leaving'))
        const change = { agent: { mcp_servers: [] } }
        const path = `/v1/sessions/${session}`
        assert.equal((await service.ask('POST', path, change)).status, 200)
        await turn(service, session, 'say: hello')
        const isTold = () => hosts.of(host).some(({ method }) => method === 'DELETE')
        await until(isTold)
        assert.ok(isTold())
      },
    )

    verifies(
      ['running/dead-process', 'running/recovery/orphan-call', 'running/recovery/once'],
      'a call of a dead server is closed with an error, and not made again',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-mcp-'))
        const { make, called } = waiting()
        await using peer = await streamablePeer(make)
        const env = {
          DATA_DIR: folder,
          ...localSettings,
          ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
        }
        const first = await startServer(env)
        const session = await begun(first, peer.url)
        await called
        await first.kill()
        await using second = await startServer(env)
        const url = `${second.base}/v1/sessions/${session}/events/stream?replay=1`
        await using stream = readStream(await fetch(url, { headers: { 'x-api-key': adminKey } }))
        const frames = await stream.untilType('session.status_idle')
        const events = frames.map(({ data }) => data)
        const use = only(events, 'agent.mcp_tool_use')
        const result = only(events, 'agent.mcp_tool_result')
        assert.deepEqual([result['mcp_tool_use_id'], result['is_error']], [use.id, true])
        assert.ok(events.indexOf(result) > events.indexOf(use))
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}

async function begun({ base }: ServerProcess, url: string): Promise<string> {
  const { beta } = new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 })
  const agent = await beta.agents.create({
    name: fresh('agent'),
    model: 'offline',
    mcp_servers: [{ name: 'waiting', type: 'url', url }],
  })
  const environment = await beta.environments.create({ name: fresh('environment') })
  const { id } = await beta.sessions.create({ agent: agent.id, environment_id: environment.id })
  await beta.sessions.events.send(id, { events: [message(callTool('mcp__waiting__wait'))] })
  return id
}

describe('a service that is shut down', () => {
  verifies(
    ['mcp/auth/static-bearer'],
    'ends its sessions at the MCP servers, with the credential that they want',
    async () => {
      await using hosts = await mcpHosts()
      const host = 'left.api.example'
      hosts.mcp(host)
      const service = await boot('sqlite', { overrides: { nameOverride: hosts.outside } })
      const token = `canary-${crypto.randomUUID()}`
      const auth = { type: 'static_bearer', token, mcp_server_url: `https://${host}/mcp` }
      const vault_ids = [await vaultOf(service, auth)]
      const session = await sessionOf(service, { servers: [declareServer(host)], vault_ids })
      await turn(service, session, echo('left'))
      await service.close()
      const [left] = hosts.of(host).filter(({ method }) => method === 'DELETE')
      assert.equal(left?.authorization, `Bearer ${token}`)
    },
  )
})
