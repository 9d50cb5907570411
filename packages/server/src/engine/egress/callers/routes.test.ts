import assert from 'node:assert/strict'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { unauthorized } from '../../../ground/core/errors.ts'
import { jsonLog } from '@steward/base/log.ts'
import { derivedKey } from '../../../ground/core/security/signed-tokens.ts'
import { mcpTokens } from '../../../ground/core/security/mcp-token.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { underClaims } from '../../../sessions/work/ending.ts'
import { systemClock } from '@steward/base/time.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import { mountRoutes } from '../../../ground/http/mount-routes.ts'
import { createOpenAnswers } from '../../../ground/http/open-answers.ts'
import { createStreams } from '../../../ground/http/streams.ts'
import type { Principal } from '../../../ground/http/principal.ts'
import { startHttpServer } from '../../../ground/http/server.ts'
import { sessionStore, tokenContext } from '../../../sessions/rows/sessions.ts'
import { openTestEgress, environment, seal, tenant } from './egress-fixture.ts'
import type { UpstreamListener } from '../fixture.ts'
import { echo, upstreamServer } from '../fixture.ts'
import { mcpProxyRoutes } from './routes.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'
import { testGround } from '../../../ground/ground-fixture.ts'

const url = 'https://api.example/mcp?fixed=1'
const canary = 'canary-token-of-the-vault'

/** The proxy's routes on a real server, before one upstream; `own` and `other` are keys of two workspaces. */
async function served(
  options: {
    listener?: UpstreamListener
    inline?: string
    environment?: Partial<EnvironmentRecord>
  } = {},
) {
  const upstream = await upstreamServer(options.listener ?? echo)
  const bench = await openTestEgress(upstream)
  const { vault } = await bench.vaultWith({
    type: 'static_bearer',
    token: canary,
    mcp_server_url: url,
  })
  const { id: session } = await bench.session([vault])
  const record = { ...environment, ...options.environment }
  const mcp_servers = [
    { name: 'mine', type: 'url', url },
    { name: 'local', type: 'stdio', stdio: { command: 'x', port: 1 } },
  ]
  const { inline } = options
  const sealed_tokens =
    inline === undefined
      ? null
      : toJson({ mine: seal.seal(inline, tokenContext(tenant, session, 'mine')) })
  await bench.database.write(async (tx) => {
    const { id: environment_id } = await environmentStore(tx).create(tenant, record, 0)
    const agent = toJson({ mcp_servers } as SessionAgent)
    await sessionStore(tx).update(tenant, session, { environment_id, agent, sealed_tokens }, 0)
  })
  const tokens = mcpTokens(derivedKey('a root secret for tests', 'mcp token'))
  const log = jsonLog(() => {})
  const principals: Record<string, Principal> = {
    own: { kind: 'workspace', tenant, keyId: 'apikey_1', admin: false },
    other: { kind: 'workspace', tenant: 'wrkspc_2', keyId: 'apikey_2', admin: true },
  }
  const clock = systemClock
  const databases = oneDatabase(bench.database)
  const under = underClaims(testGround(databases, { clock }))
  const routes = mcpProxyRoutes({ egress: bench.egress, mcpTokens: tokens, clock, under })
  const app = mountRoutes(routes, {
    ...testGround(databases, { log }),
    streams: createStreams(createShare({ total: 100, percent: 100 })),
    openAnswers: createOpenAnswers(),
    withinClaim: async () => false,
    claimByKey: async () => undefined,
    authenticate: async (header) => {
      const key = header('x-api-key') ?? header('authorization')?.replace('Bearer ', '') ?? ''
      const grant = tokens.read(key, Date.now())
      const principal: Principal | undefined = grant
        ? { kind: 'mcp', tenant: grant.tenant, sessionId: grant.session, server: grant.server }
        : principals[key]
      if (!principal) throw unauthorized('nobody')
      return principal
    },
  })
  const { server, port } = await startHttpServer(app, {
    host: '127.0.0.1',
    port: 0,
    callerConnections: 100,
  })
  const base = `http://127.0.0.1:${port}/v1/ext/mcp-proxy`
  return {
    bench,
    session,
    upstream,
    ask: (
      name: string,
      init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
    ) =>
      fetch(`${base}/${session}/${name}`, {
        ...init,
        headers: { authorization: 'Bearer own', ...init.headers },
      }),
    base,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await bench[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

describe('the MCP proxy', () => {
  it('forwards a call with the credential, without the caller’s own credentials', async () => {
    await using at = await served()
    const answer = await at.ask('mine?more=2', {
      method: 'POST',
      headers: { cookie: 'own=1', 'mcp-session-id': 'abc', 'x-kept': 'yes' },
      body: '{"method":"initialize"}',
    })
    assert.equal(answer.status, 200)
    const got = (await answer.json()) as {
      url: string
      headers: Record<string, string>
      body: string
    }
    assert.equal(got.url, '/mcp?fixed=1&more=2')
    assert.equal(got.body, '{"method":"initialize"}')
    const { authorization, cookie, host } = got.headers
    assert.deepEqual(
      [authorization, cookie, host],
      [`Bearer ${'*'.repeat(canary.length)}`, undefined, 'api.example'],
    )
    assert.deepEqual([got.headers['mcp-session-id'], got.headers['x-kept']], ['abc', 'yes'])
    const [record] = at.bench.logged
    const { time: _, level: _level, message: _message, ms, ...rest } = record ?? {}
    assert.equal(typeof ms, 'number')
    assert.deepEqual(rest, {
      op: 'mcp_proxy.forward',
      caller: 'http',
      tenant_id: tenant,
      session_id: at.session,
      server: 'mine',
      host: 'api.example',
      method: 'POST',
      status: 200,
      refreshed: false,
    })
  })

  it('streams events as they come, and closes the request to the server when the listener disconnects', async () => {
    const left = Promise.withResolvers<void>()
    const send: ((text: string) => void)[] = []
    await using at = await served({
      listener: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's1' })
        response.flushHeaders()
        response.once('close', () => left.resolve())
        send.push((piece) => response.write(piece))
      },
    })
    const leave = new AbortController()
    const answer = await at.ask('mine', { signal: leave.signal })
    assert.equal(answer.headers.get('mcp-session-id'), 's1')
    const reader = answer.body?.getReader()
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      send[0]?.(piece)
      assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), piece)
    }
    leave.abort()
    await left.promise
  })

  it('passes every method and status, redirects and failures as they are', async () => {
    await using at = await served({
      listener: async (request, response) => {
        await text(request)
        const statuses: Record<string, number> = { DELETE: 204, GET: 405, POST: 307 }
        response.writeHead(statuses[request.method ?? ''] ?? 500, { location: '/away' }).end()
      },
    })
    for (const [method, status] of [
      ['DELETE', 204],
      ['GET', 405],
      ['POST', 307],
    ] as const) {
      assert.equal((await at.ask('mine', { method, redirect: 'manual' })).status, status)
    }
  })

  it('takes the inline token before the vault’s', async () => {
    const inline = 'inline-token'
    await using at = await served({
      inline,
      listener: ({ headers }, response) => {
        response.end(headers.authorization === `Bearer ${inline}` ? 'inline' : 'other')
      },
    })
    assert.equal(await (await at.ask('mine')).text(), 'inline')
  })

  it('asks for a url where there is only stdio, and knows no server that is not the agent’s', async () => {
    await using at = await served()
    const local = await at.ask('local')
    assert.equal(local.status, 400)
    assert.match(await local.text(), /url is required/)
    assert.equal((await at.ask('nobody')).status, 404)
  })

  it('does not contact a server from a limited environment that does not allow MCP servers', async () => {
    const limited = { limited: true, allowlist: ['api.example'] }
    await using at = await served({ environment: limited })
    const answer = await at.ask('mine')
    assert.equal(answer.status, 403)
    assert.match(await answer.text(), /allow_mcp_servers/)
    assert.equal(at.upstream.connections(), 0)
    assert.equal(at.bench.logged[0]?.['status'], 403)
  })

  it('refuses another workspace', async () => {
    await using at = await served()
    assert.equal((await at.ask('mine', { headers: { authorization: 'Bearer other' } })).status, 404)
    const token = await fetch(`${at.base}/${at.session}/mine/token`, {
      method: 'POST',
      headers: { 'x-api-key': 'other' },
    })
    assert.equal(token.status, 404)
    assert.equal(at.upstream.connections(), 0)
  })

  it('mints a token for one server of one session, which reaches nothing else', async () => {
    await using at = await served()
    const mint = (name: string, key = 'own') =>
      fetch(`${at.base}/${at.session}/${name}/token`, {
        method: 'POST',
        headers: { 'x-api-key': key },
      })
    const minted = (await (await mint('mine')).json()) as { token: string; expires_at: string }
    const left = Date.parse(minted.expires_at) - Date.now()
    assert.ok(left > 14 * 60_000 && left <= 15 * 60_000)
    const headers = { authorization: `Bearer ${minted.token}` }
    assert.equal((await at.ask('mine', { headers })).status, 200)
    assert.equal((await at.ask('local', { headers })).status, 401)
    const other = await fetch(`${at.base}/sesn_other/mine`, { headers })
    assert.equal(other.status, 401)
    const again = await fetch(`${at.base}/${at.session}/mine/token`, { method: 'POST', headers })
    assert.equal(again.status, 401)
    assert.equal((await mint('nobody')).status, 404)
  })

  it('says that a server cannot be reached, and of the reason only its kind', async () => {
    await using at = await served({ listener: (request) => void request.socket.destroy() })
    const answer = await at.ask('mine')
    assert.equal(answer.status, 502)
    const { error } = (await answer.json()) as { error: { message: string } }
    assert.match(error.message, /^the MCP server mine could not be asked( \([A-Z_\d]+\))?$/)
  })

  it('stops when the session is archived', async () => {
    await using at = await served()
    await at.bench.database.write((tx) => sessionStore(tx).archive(tenant, at.session, 0))
    assert.equal((await at.ask('mine')).status, 403)
  })
})
