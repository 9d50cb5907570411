/** For tests: upstreams with certificates, an authorization server, and credentials without database rows. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { runOnce } from '@steward/base/shared-runs.ts'
import { buildConnector } from 'undici'
import type { Connector } from '../../ground/core/security/dial.ts'
import { dialsFor } from '../../ground/core/security/dial.ts'

const run = promisify(execFile)

/** One certificate for the names that tests use; this process trusts it from then on. */
const certificate = runOnce(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const names =
    'subjectAltName=DNS:api.example,DNS:other.example,DNS:auth.example,DNS:*.api.example,DNS:localhost,' +
    'DNS:github.com,DNS:api.github.com'
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=test', '-addext', names],
  ])
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  await rm(folder, { recursive: true })
  setDefaultCACertificates([...getCACertificates('default'), pair.cert])
  return pair
})

export type UpstreamListener = (request: IncomingMessage, response: ServerResponse) => unknown

export type TestUpstream = AsyncDisposable & {
  server: Server
  port: number
  /** PEM, for other processes to trust; empty without TLS. */
  certificate: string
  connections: () => number
}

export async function upstreamServer(
  listener: UpstreamListener,
  { tls = true } = {},
): Promise<TestUpstream> {
  const pair = tls ? await certificate() : undefined
  const server = pair
    ? createTlsServer(pair, (...at) => void listener(...at))
    : createServer((...at) => void listener(...at))
  let connections = 0
  server.on(tls ? 'secureConnection' : 'connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    port: (server.address() as AddressInfo).port,
    certificate: pair?.cert ?? '',
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await promisify(server.close.bind(server))()
    },
  }
}

type LocalPort = { port: number }

/** Every name and port leads to this place. Its certificate is still checked for the name. */
export const connectTo = (port: LocalPort): Connector<'tenant'> => connecting(() => port)

/** Each name leads to its own place; other names are not found. */
export const connectBy = (hosts: Record<string, LocalPort>): Connector<'tenant'> =>
  connecting((host) => hosts[host])

function connecting(placeOf: (host: string) => LocalPort | undefined): Connector<'tenant'> {
  const connect = buildConnector({ allowH2: false })
  return dialsFor(
    'tenant',
    (options: buildConnector.Options, callback: buildConnector.Callback) => {
      const listener = placeOf(options.hostname)
      if (!listener) return callback(new Error(`${options.hostname} is not found`), null)
      const { port } = listener
      const to = { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, port: String(port) }
      connect({ ...options, ...to, servername: options.hostname }, callback)
    },
  )
}

/** Answers with the request as JSON. With `echo` in the path, adds the body and each header as text. */
export async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const { method, url, rawHeaders, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, url, headers, rawHeaders, body }))
}

export type EchoedRequest = {
  method: string
  url: string
  headers: Record<string, string>
  rawHeaders: string[]
  body: string
}

type AuthServerMode = 'fine' | 'revoked' | 'broken' | 'slow' | 'huge' | 'without' | 'echoing'

/** Issues `access-N` and `refresh-N`; only `refresh-N` obtains the next pair. */
export async function authorizationServer() {
  const state = {
    mode: 'fine' as AuthServerMode,
    issued: 0,
    expiresIn: 3600 as number | undefined,
    /** Form and Authorization header of each request. */
    asked: [] as { form: Record<string, string>; authorization: string | undefined }[],
    /** Answers wait while this is pending. */
    gate: Promise.resolve(),
    valid: 'access-0-of-the-first-day',
    current: 'refresh-0-of-the-first-day',
  }
  const server = await upstreamServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    state.asked.push({ form, authorization: request.headers.authorization })
    await state.gate
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (state.mode === 'slow') return
    if (state.mode === 'echoing') {
      const token = form['refresh_token']
      return response.writeHead(400, { 'content-type': `text/plain; of=${token}` }).end(token)
    }
    if (state.mode === 'broken') return response.destroy()
    if (state.mode === 'huge') return json(200, { access_token: 'x'.repeat(100_000) })
    if (state.mode === 'revoked' || form['refresh_token'] !== state.current) {
      return json(400, { error: 'invalid_grant' })
    }
    const n = ++state.issued
    state.valid = `access-${n}-of-the-first-day`
    const isKept = state.mode === 'without'
    if (!isKept) state.current = `refresh-${n}-of-the-first-day`
    json(200, {
      access_token: state.valid,
      token_type: 'Bearer',
      ...(isKept ? {} : { refresh_token: state.current }),
      ...(state.expiresIn === undefined ? {} : { expires_in: state.expiresIn }),
    })
  })
  return { ...server, state }
}
