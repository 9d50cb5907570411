/** All requests of the server leave by the proxy that the operator names, and keep their checks. */
import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { hostname } from 'node:os'
import { after, before, describe, it, mock } from 'node:test'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { systemClock } from '@steward/base/time.ts'
import type { TestUpstream } from '../engine/egress/fixture.ts'
import { echo, upstreamServer } from '../engine/egress/fixture.ts'
import { readConfig } from '../ground/config/config.ts'
import type { ConnectProxy } from '../ground/core/security/connect-proxy-fixture.ts'
import { connectProxy } from '../ground/core/security/connect-proxy-fixture.ts'
import { identityFetch } from '../ground/core/security/identity-dispatcher.ts'
import { asOperator, RefusedAddressError } from '../ground/core/security/dial.ts'
import { Agent, sendRequest } from '../ground/core/security/undici.ts'
import { memoryBus } from '../ground/bus/memory.ts'
import { requestAnswered, requestStarted } from '../ground/http/request-observations.ts'
import { createTraces } from '../surfaces/traces/traces.ts'
import { createDiallers } from './diallers.ts'
import { collectorsOf } from './telemetry.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
/** A public address, which nothing in this test dials itself. */
const address = '8.8.8.8'

describe('the requests of a server behind a proxy', () => {
  const usual = getGlobalDispatcher()
  let secure: TestUpstream
  let clear: TestUpstream
  let proxy: ConnectProxy

  before(async () => {
    secure = await upstreamServer(echo)
    clear = await upstreamServer(echo, { tls: false })
    proxy = await connectProxy(
      {
        'api.example:443': secure.port,
        'other.example:80': clear.port,
        [`${address}:443`]: secure.port,
        [`${address}:80`]: clear.port,
        [`${address}:9000`]: clear.port,
      },
      { credentials: 'user:hunter2' },
    )
  })
  after(async () => {
    setGlobalDispatcher(usual)
    await proxy[Symbol.asyncDispose]()
    await secure[Symbol.asyncDispose]()
    await clear[Symbol.asyncDispose]()
  })

  function configOf(env: Record<string, string> = {}) {
    const read = readConfig({
      PLATFORM_ROOT_SECRET: '0123456789abcdef',
      HTTPS_PROXY: proxy.url,
      HTTP_PROXY: proxy.url,
      ...env,
    })
    assert.ok(read.ok, JSON.stringify(read))
    proxy.asked.length = 0
    return read.config
  }
  const diallers = (env: Record<string, string> = {}) =>
    createDiallers(configOf(env), { log, clock: systemClock }, undefined)
  const statusOf = async (url: string, dispatcher: Agent) => {
    const answer = await sendRequest(url, { dispatcher, signal: AbortSignal.timeout(5_000) })
    await answer.body.dump()
    return answer.statusCode
  }
  const fetched = async (url: string) => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    await answer.arrayBuffer()
    return answer.status
  }

  it('of the operator go by it, by the name that the proxy resolves', async () => {
    const { operator } = diallers()
    const agent = new Agent({ connect: operator.connect })
    assert.equal(await statusOf('https://api.example/', agent), 200)
    assert.equal(await statusOf('http://other.example/', agent), 200)
    assert.deepEqual(proxy.asked, ['api.example:443', 'other.example:80'])
    const answer = await sendRequest('https://api.example/', { dispatcher: operator.agent })
    await answer.body.dump()
    assert.equal(await asOperator(() => fetched('https://api.example/')), 200)
    assert.equal(proxy.asked.length, 4)
    await agent.destroy()
  })

  it('that ask a cloud who this machine is go by it, but not to the address in the machine', async () => {
    diallers()
    const signal = AbortSignal.timeout(5_000)
    const answer = await identityFetch('https://api.example/', { signal })
    await answer.arrayBuffer()
    for (const host of ['169.254.169.254', 'metadata.google.internal']) {
      const soon = AbortSignal.timeout(100)
      // Some machines have such an address.
      await identityFetch(`http://${host}:81/`, { signal: soon }).catch(() => {})
    }
    assert.deepEqual(proxy.asked, ['api.example:443'])
  })

  it('of workspaces go by it, to an address that was checked here', async () => {
    const { tenant } = diallers()
    const agent = new Agent({ connect: tenant.connect })
    assert.equal(await statusOf(`http://${address}/`, agent), 200)
    assert.equal(await fetched(`http://${address}/`), 200)
    assert.deepEqual(proxy.asked, [`${address}:80`, `${address}:80`])
    for (const url of [
      `http://${hostname()}/`,
      'https://169.254.169.254/',
      'https://[fd00::1]/',
      'https://10.0.0.1/',
    ])
      await assert.rejects(statusOf(url, agent), RefusedAddressError, url)
    assert.equal(proxy.asked.length, 2)
    await agent.destroy()
  })

  it('of workspaces ask it for the address of a name, which no second answer can replace', async () => {
    const answers = [
      [
        { address: '2606:4700::1111', family: 6 },
        { address, family: 4 },
      ],
      [{ address: '10.0.0.1', family: 4 }],
    ]
    const resolver = mock.method(dns, 'lookup', async () => answers.shift() ?? [])
    syncBuiltinESMExports()
    const { tenant } = diallers()
    const agents = [new Agent({ connect: tenant.connect }), new Agent({ connect: tenant.connect })]
    const [first, second] = agents.map((agent) => () => statusOf('https://api.example/', agent))
    try {
      assert.equal(await first?.(), 200)
      await assert.rejects(async () => second?.(), RefusedAddressError)
    } finally {
      resolver.mock.restore()
      syncBuiltinESMExports()
      for (const agent of agents) await agent.destroy()
    }
    assert.deepEqual(proxy.asked, [`${address}:443`])
  })

  it('of workspaces go past it where the address of a name is past it', async () => {
    const resolver = mock.method(dns, 'lookup', async () => [{ address: '127.0.0.1', family: 4 }])
    syncBuiltinESMExports()
    const { tenant } = diallers({ EGRESS_TENANT_TARGETS: `127.0.0.1:${secure.port}` })
    const agent = new Agent({ connect: tenant.connect })
    try {
      assert.equal(await statusOf(`https://api.example:${secure.port}/`, agent), 200)
      await assert.rejects(statusOf(`https://api.example:${clear.port}/`, agent), {
        code: 'EREFUSEDADDRESS',
      })
    } finally {
      resolver.mock.restore()
      syncBuiltinESMExports()
      await agent.destroy()
    }
    assert.deepEqual(proxy.asked, [])
  })

  it('of workspaces say what to do where a name is known to the proxy alone', async () => {
    const { tenant } = diallers()
    const agent = new Agent({ connect: tenant.connect })
    await assert.rejects(statusOf('https://api.example/', agent), /EGRESS_PROXY_RESOLVES/)
    assert.deepEqual(proxy.asked, [])
    await agent.destroy()
  })

  it('of workspaces go by name where the operator trusts the check of the proxy', async () => {
    const { tenant } = diallers({ EGRESS_PROXY_RESOLVES: 'true' })
    const agent = new Agent({ connect: tenant.connect })
    assert.equal(await statusOf('https://api.example/', agent), 200)
    assert.equal(await fetched('https://api.example/'), 200)
    await assert.rejects(statusOf('https://169.254.169.254/', agent), RefusedAddressError)
    assert.deepEqual(proxy.asked, ['api.example:443', 'api.example:443'])
    await agent.destroy()
  })

  it('and the connections of sandboxes go by it too', async () => {
    const { tenant, operator } = diallers()
    for (const dial of [tenant.dial, operator.dial]) {
      const socket = await dial({ host: address, port: 9000 })
      socket.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      let text = ''
      socket.on('data', (bytes) => (text += String(bytes)))
      await once(socket, 'end')
      socket.destroy()
      assert.match(text, /^HTTP\/1\.1 200 OK/)
    }
    await assert.rejects(tenant.dial({ host: '10.0.0.1', port: 443 }), RefusedAddressError)
    assert.deepEqual(proxy.asked, [`${address}:9000`, `${address}:9000`])
  })

  it('go past it to what NO_PROXY names, and to this machine', async () => {
    const { operator } = diallers({
      NO_PROXY: 'api.example',
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
    })
    const agent = new Agent({ connect: operator.connect })
    await assert.rejects(statusOf('https://api.example/', agent), /ENOTFOUND|EAI_AGAIN/)
    assert.equal(await statusOf(`http://127.0.0.1:${clear.port}/`, agent), 200)
    assert.equal(await statusOf(`https://localhost:${secure.port}/`, agent), 200)
    assert.deepEqual(proxy.asked, [])
    await agent.destroy()
  })

  it('fail with what the proxy answers, and without its password', async () => {
    const { operator } = diallers()
    const agent = new Agent({ connect: operator.connect })
    await assert.rejects(
      statusOf('https://unknown.example/', agent),
      /the proxy of this server does not connect to unknown\.example:443: it answers 502/,
    )
    const wrong = diallers({ HTTPS_PROXY: `http://user:hunter3@127.0.0.1:${proxy.port}` })
    await assert.rejects(
      statusOf('https://api.example/', new Agent({ connect: wrong.operator.connect })),
      (error: Error) => /answers 407/.test(error.message) && !/hunter3/.test(error.message),
    )
    const away = diallers({ HTTPS_PROXY: 'http://127.0.0.1:1' })
    await assert.rejects(
      statusOf('https://api.example/', new Agent({ connect: away.operator.connect })),
      /the proxy of this server does not answer \(ECONNREFUSED\)$/,
    )
    await agent.destroy()
  })

  it('keep the check of certificates', async () => {
    await using other = await connectProxy({ 'unnamed.test:443': secure.port })
    const behind = diallers({ HTTPS_PROXY: other.url })
    await assert.rejects(
      statusOf('https://unnamed.test/', new Agent({ connect: behind.operator.connect })),
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    )
  })

  it('reach a proxy by TLS', async () => {
    await using front = await upstreamServer(echo)
    await using other = await connectProxy(
      { 'api.example:443': secure.port },
      { server: front.server },
    )
    const { operator } = diallers({ HTTPS_PROXY: `https://localhost:${front.port}` })
    const agent = new Agent({ connect: operator.connect })
    assert.equal(await statusOf('https://api.example/', agent), 200)
    assert.deepEqual(other.asked, ['api.example:443'])
    await agent.destroy()
  })

  it('include traces', async () => {
    const config = configOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://api.example/otlp/',
      OTEL_TRACES_SAMPLER: 'always_on',
    })
    const { traces: collector } = collectorsOf(config)
    const { traces: sampling } = config
    assert.ok(collector)
    assert.equal(collector.url, 'https://api.example/otlp/v1/traces')
    const traces = await createTraces({ log, bus: memoryBus() }, { collector, sampling })
    const request = { requestId: 'req_1', method: 'GET', route: '/v1/agents' }
    const unknown = { session: undefined, traceparent: undefined }
    requestStarted.tell({ ...request, ...unknown })
    const answer = { status: 200, ms: 1, isStream: false, tenant: undefined, keyId: undefined }
    requestAnswered.tell({ ...request, ...answer })
    await traces.close()
    assert.deepEqual(proxy.asked, ['api.example:443'])
  })

  it('include a WebSocket', async () => {
    const { WebSocketServer } = await import('ws')
    const { WebSocket } = await import('undici')
    const sockets = new WebSocketServer({ server: secure.server })
    sockets.on('connection', (socket) => socket.send('hello'))
    const { operator } = diallers()
    const dispatcher = new Agent({ connect: operator.connect })
    const socket = new WebSocket('wss://api.example/', { dispatcher })
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    socket.addEventListener('message', ({ data }) => resolve(data))
    socket.addEventListener('error', ({ error }) => reject(error))
    assert.equal(await promise, 'hello')
    assert.deepEqual(proxy.asked, ['api.example:443'])
    socket.close()
    sockets.close()
    await dispatcher.destroy()
  })
})
