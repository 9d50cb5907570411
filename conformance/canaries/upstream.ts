/** One upstream for every name. It stores each request and echoes it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Streamable } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { echoServer, serveAnswer, streamableHttp } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import { registryHost } from './registry.ts'
import { managerPath } from './secrets.ts'
import { authorizationOf, sayUpgraded, echoRoutes } from './echo-routes.ts'

export type EchoingUpstream = TestUpstream & {
  /** All requests, each as JSON. */
  whole: string[]
  /** Number of open requests that get no answer. */
  hanging: () => number
}

type EchoRequest = {
  request: IncomingMessage
  response: ServerResponse
  path: string
  body: string
  /** The whole request in the form that the echo sends. */
  said: string
}

/** An MCP server whose tools show, in results and errors, the authorization of the request. */
function tellingServer(): Streamable {
  let authorization = ''
  const make = () =>
    echoServer((server) => {
      const plain = { description: 'tells' }
      const told = () => [{ type: 'text' as const, text: authorization }]
      server.registerTool('whoami', plain, () => ({ content: told() }))
      server.registerTool('fail', plain, () => ({ content: told(), isError: true }))
      server.registerTool('throw', plain, () => {
        throw new Error(`refused: ${authorization}`)
      })
      server.registerTool('break', plain, () => ({ content: [] }))
    })
  return streamableHttp(make, (request, message) => {
    authorization = String(request.headers.get('authorization'))
    const { params } = (message ?? {}) as { params?: { name?: string } }
    if (params?.name !== 'break') return undefined
    const headers = { 'www-authenticate': authorization, 'content-type': 'text/plain' }
    return new Response(authorization, { status: 500, headers })
  })
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/**
 * Hosts that begin with `mcp` are MCP servers at `/mcp`. Hosts that begin with `oauth` accept only the issued token:
 * `/token` issues it for one refresh token, with a lifetime of one second. They refuse other tokens and echo them.
 */
export async function echoingUpstream(
  issued: { for: string; access: string; refresh: string },
  manager: { token: string; secret: string },
  registry: ReadonlyMap<string, Buffer>,
): Promise<EchoingUpstream> {
  const whole: string[] = []
  const servers = new Map<string, Streamable>()
  let hanging = 0

  function token({ response, said, body }: EchoRequest): void {
    const isRight = new URLSearchParams(body).get('refresh_token') === issued.for
    if (!isRight) return json(response, 400, { error: 'invalid_grant', body, said })
    json(response, 200, {
      access_token: issued.access,
      refresh_token: issued.refresh,
      expires_in: 1,
    })
  }

  /** As HashiCorp Vault does. */
  const manage = ({ response, path }: EchoRequest): void =>
    path.includes('/auth/')
      ? json(response, 200, { auth: { client_token: manager.token, lease_duration: 60 } })
      : json(response, 200, {
          data: { data: { value: manager.secret }, metadata: { version: 1 } },
        })

  const refuse = ({ request, response, said }: EchoRequest, status: number): void =>
    void response.writeHead(status, { 'www-authenticate': authorizationOf(request) }).end(said)

  function answer(received: EchoRequest): unknown {
    const { request, response, path, said } = received
    if (path === '/hang') {
      hanging++
      return response.write(said)
    }
    if (path === '/token') return token(received)
    if (path.startsWith(managerPath)) return manage(received)
    if (path.startsWith('/model')) return refuse(received, path.includes('refusing') ? 401 : 400)
    const isWrong = authorizationOf(request) !== `Bearer ${issued.access}`
    if (request.headers.host?.startsWith('oauth') && isWrong) return refuse(received, 401)
    if (path === '/search') return search(received)
    response.setHeader('x-got', authorizationOf(request))
    return (echoRoutes[path] ?? echoRoutes['/plain'])?.(said, request, response)
  }

  const upstream = await upstreamServer(async (request, response) => {
    const { rawHeaders, method, url = '' } = request
    const host = String(request.headers.host)
    const path = new URL(url, 'https://x').pathname
    if (path === '/mcp' && host.startsWith('mcp')) {
      const server = servers.get(host) ?? tellingServer()
      servers.set(host, server)
      whole.push(JSON.stringify({ url, rawHeaders }))
      return serveAnswer(server.answer, request, response).catch(() => response.destroy())
    }
    if (host === registryHost) return response.end(registry.get(path))
    const body = await text(request)
    const said = JSON.stringify({ method, url, rawHeaders, body, again: rawHeaders.join('\n') })
    whole.push(said)
    return answer({ request, response, path, body, said })
  })
  upstream.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    whole.push(JSON.stringify(request.rawHeaders))
    sayUpgraded(request, socket)
  })
  return { ...upstream, whole, hanging: () => hanging }
}

function search({ response, said }: EchoRequest): void {
  if (said.includes('fail')) return void response.writeHead(500).end(said)
  json(response, 200, { results: [{ url: 'https://other.example', title: said, content: said }] })
}
