import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { connect as netConnect } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { connect as tlsConnect } from 'node:tls'
import type { AuthCreate } from '@steward/protocol/credential-auth.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { dialsFor, RefusedAddressError } from '../../../ground/core/security/dial.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import { openTestEgress, tenant } from './egress-fixture.ts'
import type { EgressOptions } from '../egress.ts'
import { echo, upstreamServer } from '../fixture.ts'
import type { EchoedRequest, UpstreamListener } from '../fixture.ts'

const canary = 'canary-token-of-the-vault'
const variable: AuthCreate = {
  type: 'environment_variable',
  secret_name: 'API_KEY',
  secret_value: 'canary-of-a-variable',
  networking: { type: 'limited', allowed_hosts: ['*.api.example'] },
  injection_location: { header: true, body: true },
}

async function opened(
  options: Partial<EgressOptions> & {
    bound?: Partial<EnvironmentRecord>
    listener?: UpstreamListener
  } = {},
) {
  const upstream = await upstreamServer(options.listener ?? echo)
  const bench = await openTestEgress(upstream, {
    dial: dialsFor('tenant', async () => {
      const socket = netConnect(upstream.port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    }),
    ...options,
  })
  const { vault } = await bench.vaultWith(
    { type: 'static_bearer', token: canary, mcp_server_url: 'https://api.example/mcp' },
    { type: 'cap_cli', cli_id: 'gh', token: 'canary-of-a-program' },
    variable,
  )
  const session = await bench.session([vault], options.bound)
  const gate = await session.egress.openGate(bench.folder)
  const trusted = await readFile(gate.certificates, 'utf8')

  async function connected(target: string): Promise<Duplex> {
    const asking = httpRequest({
      socketPath: gate.socket,
      method: 'CONNECT',
      path: target,
      headers: { host: target },
    })
    asking.end()
    const [answer, socket] = (await once(asking, 'connect')) as [IncomingMessage, Duplex]
    if (answer.statusCode === 200) return socket
    socket.destroy()
    throw Object.assign(new Error(answer.statusMessage), { status: answer.statusCode })
  }

  return {
    bench,
    upstream,
    session,
    gate,
    connected,
    /** A request as a program in the sandbox sends it. */
    async ask(host: string, headers: Record<string, string> = {}, body?: string) {
      const socket = await connected(`${host}:443`)
      const secure = tlsConnect({ socket, servername: host, ca: trusted })
      await once(secure, 'secureConnect')
      const issuer = secure.getPeerCertificate().issuer.CN
      const request: ClientRequest = httpRequest({
        createConnection: () => secure,
        method: body === undefined ? 'GET' : 'POST',
        path: '/',
        headers: { host, ...headers },
      })
      request.end(body)
      const [answer] = (await once(request, 'response')) as [IncomingMessage]
      const shown = await text(answer)
      secure.destroy()
      socket.destroy()
      return { status: answer.statusCode, shown, issuer }
    },
    async [Symbol.asyncDispose]() {
      await gate.close()
      await bench[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

describe('a sandbox’s gate', () => {
  it('adds the credential where there is one, and shows the sandbox nothing of it', async () => {
    await using at = await opened()
    const { shown, issuer } = await at.ask('api.example', { authorization: 'Bearer own' })
    assert.match(String(issuer), /^Steward sandbox authority/)
    const got = JSON.parse(shown) as EchoedRequest
    assert.equal(got.headers['authorization'], `Bearer ${'*'.repeat(canary.length)}`)
    assert.deepEqual(
      at.bench.logged.map(({ caller, server, host, status }) => [caller, server, host, status]),
      [['rpc-outbound', 'api.example', 'api.example', 200]],
    )
  })

  it('tunnels connections to hosts without a credential unread', async () => {
    await using at = await opened()
    const { shown, issuer } = await at.ask('other.example', { authorization: 'Bearer own' })
    assert.equal(issuer, 'test')
    assert.equal((JSON.parse(shown) as EchoedRequest).headers['authorization'], 'Bearer own')
    // The record is written after both connections have ended.
    while (at.bench.logged.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const tunnels = at.bench.logged.map(({ method, host, status }) => [method, host, status])
    assert.deepEqual(tunnels, [['CONNECT', 'other.example', 200]])
  })

  it('gives the sandbox placeholders, and exchanges them only for their hosts', async () => {
    await using at = await opened({
      listener: async (request, response) => {
        const got = `${String(request.headers['x-key'])} ${await text(request)}`
        // A spelling that no mask knows.
        response.end(Buffer.from(got).toString('hex'))
      },
    })
    const { env } = at.gate
    assert.deepEqual(Object.keys(env).toSorted(), ['API_KEY', 'GH_TOKEN'])
    const placeholder = env['API_KEY'] ?? ''
    assert.match(placeholder, /^stw_placeholder_/)
    const sent = async (host: string) => {
      const { shown } = await at.ask(host, { 'x-key': placeholder }, `{${placeholder}}`)
      return Buffer.from(shown, 'hex').toString()
    }
    assert.equal(await sent('eu.api.example'), 'canary-of-a-variable {canary-of-a-variable}')
    assert.equal(await sent('other.example'), `${placeholder} {${placeholder}}`)
  })

  it('refuses hosts that the environment rules out, and names host and reason', async () => {
    await using at = await opened({ bound: { limited: true, allowlist: ['api.example'] } })
    await assert.rejects(at.connected('other.example:443'), {
      status: 403,
      message: /other\.example/,
    })
    await assert.rejects(at.connected('169.254.169.254:443'), { status: 403 })
    assert.deepEqual(
      at.session.egress.takeRefusals().map(({ host, reason }) => [host, reason]),
      [
        ['other.example', 'not_allowed'],
        ['169.254.169.254', 'bare_address'],
      ],
    )
    assert.deepEqual(
      at.bench.logged.map(({ host, method, status }) => [host, method, status]),
      [
        ['other.example', 'CONNECT', 403],
        ['169.254.169.254', 'CONNECT', 403],
      ],
    )
    assert.equal(at.upstream.connections(), 0)
  })

  it('refuses names that lead to private addresses', async () => {
    const dial = dialsFor('tenant', () =>
      Promise.reject(new RefusedAddressError('other.example', 'tenant')),
    )
    await using at = await opened({ dial })
    await assert.rejects(at.connected('other.example:443'), { status: 403 })
    assert.equal(at.session.egress.takeRefusals()[0]?.reason, 'private_address')
  })

  it('records a refusal within a tunnel once', async () => {
    await using at = await opened()
    const socket = await at.connected('api.example:443')
    const secure = tlsConnect({
      socket,
      servername: 'api.example',
      ca: await readFile(at.gate.certificates, 'utf8'),
    })
    await once(secure, 'secureConnect')
    await at.bench.database.write((tx) =>
      tx.updateTable('session_heads').set({ generation: 7 }).execute(),
    )
    secure.write('GET / HTTP/1.1\r\nhost: api.example\r\nconnection: close\r\n\r\n')
    assert.match(await text(secure), /^HTTP\/1\.1 403/)
    assert.deepEqual(
      at.bench.logged.map(({ host, method, status }) => [host, method, status]),
      [['api.example', 'GET', 403]],
    )
    assert.equal(at.session.egress.takeRefusals().length, 1)
  })

  it('reads nothing and adds no credential where the profile disables it, and still applies the lists', async () => {
    await using at = await opened({ profile: 'disabled', bound: { denylist: ['other.example'] } })
    assert.deepEqual(at.gate.env, {})
    const { shown, issuer } = await at.ask('api.example', { authorization: 'Bearer own' })
    assert.equal(issuer, 'test')
    assert.equal((JSON.parse(shown) as EchoedRequest).headers['authorization'], 'Bearer own')
    await assert.rejects(at.connected('other.example:443'), { status: 403 })
  })

  it('ends open connections when the session is revoked, and accepts no others', async () => {
    await using at = await opened()
    const socket = await at.connected('other.example:443')
    const ended = once(socket, 'close')
    at.session.egress.revoke()
    await ended
    await assert.rejects(at.connected('api.example:443'))
  })

  it('takes connections up to the share of its tenant, says so, and keeps room for another tenant', async () => {
    const connections = createShare({ total: 4, percent: 50 })
    await using at = await opened({ connections })
    const open = [await at.connected('a.example:443'), await at.connected('b.example:443')]
    const late = netConnect({ path: at.gate.socket })
    late.on('error', () => {})
    await once(late, 'close')
    assert.deepEqual(
      at.session.egress.takeRefusals().map(({ reason }) => reason),
      ['limit'],
    )
    assert.ok(connections.room('another') > 0)
    for (const socket of open) socket.destroy()
    while (connections.held(tenant) > 0) await new Promise((resolve) => setImmediate(resolve))
    const again = await at.connected('a.example:443')
    again.destroy()
  })

  it('gives one sandbox half of what a process has for all', async () => {
    await using at = await opened({ mostConnections: 4 })
    const open = [await at.connected('a.example:443'), await at.connected('b.example:443')]
    const late = netConnect({ path: at.gate.socket })
    late.on('error', () => {})
    await once(late, 'close')
    for (const socket of open) socket.destroy()
  })

  it('opens no gate for a session that another process has claimed', async () => {
    await using at = await opened()
    await at.bench.database.write((tx) =>
      tx
        .updateTable('session_heads')
        .set({ generation: 3 })
        .where('tenant_id', '=', tenant)
        .execute(),
    )
    await assert.rejects(at.session.egress.openGate(at.bench.folder), /no longer/)
  })
})
