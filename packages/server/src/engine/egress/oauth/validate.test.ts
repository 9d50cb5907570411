import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { credentialStore } from '../../../resources/vaults/credentials.ts'
import { openTestEgress, tenant } from '../callers/egress-fixture.ts'
import { authorizationServer, connectBy, upstreamServer } from '../fixture.ts'

const first = 'access-0-of-the-first-day'

/** The result of validation when the server answers this, with and without a refresh token. */
async function validated(answer: { status: number; body?: string }, { refreshes = true } = {}) {
  const issuer = await authorizationServer()
  const server = await upstreamServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const asked = JSON.parse(await text(request)) as { method: string }
    const isFine = issuer.state.issued > 0 && authorization === `Bearer ${issuer.state.valid}`
    if (isFine) return response.end(asked.method)
    response.setHeader('content-type', 'text/plain')
    return response.writeHead(answer.status).end(`${answer.body ?? 'no'} ${authorization}`)
  })
  const connect = connectBy({ 'api.example': server, 'auth.example': issuer })
  const bench = await openTestEgress(server, { connect })
  const refresh = {
    refresh_token: issuer.state.current,
    token_endpoint: 'https://auth.example/token',
    token_endpoint_auth: { type: 'none' } as const,
  }
  const { ids } = await bench.vaultWith({
    type: 'mcp_oauth',
    access_token: first,
    mcp_server_url: 'https://api.example/mcp',
    ...(refreshes ? { refresh } : {}),
  })
  return {
    issuer,
    server,
    async ask() {
      const row = await credentialStore(bench.database.read).active(tenant, ids[0] ?? '')
      assert.ok(row)
      return bench.egress.validate(tenant, row, new AbortController().signal)
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

const shown = (status_code: number, body: string, content_type = 'text/plain') => ({
  status_code,
  content_type,
  body,
  body_truncated: false,
})
const stars = '*'.repeat(first.length)

describe('validating a credential', () => {
  it('finds a credential valid that its server accepts, and asks nobody else', async () => {
    await using at = await validated({ status: 200 })
    assert.deepEqual(await at.ask(), {
      status: 'valid',
      has_refresh_token: true,
      mcp_probe: null,
      refresh: null,
    })
    assert.equal(at.issuer.state.asked.length, 0)
  })

  it('does not wait for the end of an answer that never ends', async () => {
    await using server = await upstreamServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': and on')
    })
    await using bench = await openTestEgress(server, {
      connect: connectBy({ 'api.example': server }),
    })
    const { ids } = await bench.vaultWith({
      type: 'mcp_oauth',
      access_token: first,
      mcp_server_url: 'https://api.example/mcp',
    })
    const row = await credentialStore(bench.database.read).active(tenant, ids[0] ?? '')
    assert.ok(row)
    const { status } = await bench.egress.validate(tenant, row, new AbortController().signal)
    assert.equal(status, 'valid')
  })

  it('refreshes an expired credential, and tries the new one', async () => {
    await using at = await validated({ status: 401 })
    assert.deepEqual(await at.ask(), {
      status: 'valid',
      has_refresh_token: true,
      mcp_probe: null,
      refresh: { status: 'succeeded', http_response: null },
    })
  })

  it('finds a credential invalid that cannot be refreshed, and shows nothing secret of the answers', async () => {
    await using at = await validated({ status: 401 })
    at.issuer.state.mode = 'revoked'
    const probe = { method: 'initialize', http_response: shown(401, `no Bearer ${stars}`) }
    assert.deepEqual(await at.ask(), {
      status: 'invalid',
      has_refresh_token: true,
      mcp_probe: probe,
      refresh: {
        status: 'failed',
        http_response: shown(400, '{"error":"invalid_grant"}', 'application/json'),
      },
    })
    await using without = await validated({ status: 401 }, { refreshes: false })
    assert.deepEqual(await without.ask(), {
      status: 'invalid',
      has_refresh_token: false,
      mcp_probe: probe,
      refresh: { status: 'no_refresh_token', http_response: null },
    })
  })

  it('shows no token that a token endpoint repeats, in its body or in its type', async () => {
    await using at = await validated({ status: 401 })
    const hidden = '*'.repeat(at.issuer.state.current.length)
    at.issuer.state.mode = 'echoing'
    const { refresh } = await at.ask()
    assert.deepEqual(refresh?.http_response, shown(400, hidden, `text/plain; of=${hidden}`))
  })

  it('does not know where the server fails, or nobody is reached', async () => {
    await using at = await validated({ status: 500, body: 'x'.repeat(5000) })
    const { status, mcp_probe } = await at.ask()
    assert.equal(status, 'unknown')
    assert.equal(mcp_probe?.http_response?.body_truncated, true)
    assert.equal(mcp_probe.http_response.body.length, 4096)
    await using broken = await validated({ status: 401 })
    broken.issuer.state.mode = 'broken'
    const { status: other, refresh } = await broken.ask()
    assert.equal(other, 'unknown')
    assert.deepEqual(refresh, { status: 'connect_error', http_response: null })
  })
})
