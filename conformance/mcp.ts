/** MCP servers by hostname, behind TLS, for services in this process. Every request is recorded. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { PeerAnswer, Streamable } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { echoServer, serveAnswer, streamableHttp } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { connectTo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import type { StartOverrides } from '@steward/server/start/start.ts'
import type { ServiceClients } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { fresh } from './turns.ts'

type McpRequest = { host: string; method: string; path: string; authorization?: string }

export type McpHosts = AsyncDisposable & {
  /**
   * Connects every name to these servers. Their certificate covers `api.example`, `*.api.example` and a few other
   * names.
   */
  outside: NonNullable<StartOverrides['nameOverride']>
  port: number
  noted: McpRequest[]
  /** The requests of one host. */
  of(host: string): McpRequest[]
  /** Sets the answer of a host from now on. */
  set(host: string, answer: PeerAnswer): void
  /** Makes a host an MCP server with one tool and the additions of `extend`. */
  mcp(
    host: string,
    extend?: Parameters<typeof echoServer>[0],
    before?: Parameters<typeof streamableHttp>[1],
  ): Streamable
}

/** `elsewhere`: hosts with other servers, by port. */
export async function mcpHosts(
  elsewhere: Readonly<Record<string, { port: number }>> = {},
): Promise<McpHosts> {
  const answers = new Map<string, PeerAnswer>()
  const noted: McpRequest[] = []
  const upstream = await upstreamServer(async (incoming, outgoing) => {
    const { headers, method = '', url: path = '' } = incoming
    const host = headers.host ?? ''
    const { authorization } = headers
    noted.push({ host, method, path, ...(authorization === undefined ? {} : { authorization }) })
    const answer = answers.get(host) ?? (() => new Response('no such host', { status: 404 }))
    await serveAnswer(answer, incoming, outgoing).catch(() => outgoing.destroy())
  })
  const set = (host: string, answer: PeerAnswer) => void answers.set(host, answer)
  return {
    outside: {
      connect: (options, callback) =>
        connectTo(elsewhere[options.hostname] ?? upstream)(options, callback),
      dial: async () => connect({ port: upstream.port, host: '127.0.0.1' }),
    },
    port: upstream.port,
    noted,
    of: (host) => noted.filter((each) => each.host === host),
    set,
    mcp(host, extend, before) {
      const server = streamableHttp(() => echoServer(extend), before)
      set(host, server.answer)
      return server
    },
    [Symbol.asyncDispose]: upstream[Symbol.asyncDispose],
  }
}

export type McpDeclaration = {
  name: string
  type: 'url'
  url: string
  authorization_token?: string
}

export const declareServer = (host: string, name = host.split('.')[0] ?? ''): McpDeclaration => ({
  name,
  type: 'url',
  url: `https://${host}/mcp`,
})

export type SessionParts = {
  servers?: readonly object[]
  tools?: readonly object[]
  environment?: object
  /** An existing environment. Without it a new one is created. */
  environment_id?: string
  vault_ids?: readonly string[]
  overrides?: object
}

/** Creates an agent with these parts and a session of it. Returns the id of the session. */
export async function sessionOf(
  service: Pick<ServiceClients, 'ask'>,
  {
    servers = [],
    tools = [],
    environment = {},
    environment_id,
    vault_ids = [],
    overrides,
  }: SessionParts,
): Promise<string> {
  const made = async (path: string, body: object) => {
    const answer = await service.ask('POST', path, body)
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    return answer.body.id
  }
  const agent = { name: fresh('agent'), model: 'offline', mcp_servers: servers, tools }
  const id = await made('/v1/agents', agent)
  return made('/v1/sessions', {
    agent: overrides ? { type: 'agent_with_overrides', id, ...overrides } : id,
    environment_id:
      environment_id ??
      (await made('/v1/environments', { name: fresh('environment'), ...environment })),
    vault_ids,
  })
}

export async function vaultOf(
  service: Pick<ServiceClients, 'ask'>,
  ...auths: object[]
): Promise<string> {
  const { status, body } = await service.ask('POST', '/v1/vaults', {
    name: fresh('vault'),
    credentials: auths.map((auth) => ({ auth })),
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

export const callTool = (tool: string, input: object = {}) =>
  `call ${tool} ${JSON.stringify(input)}`

/** The errors in the events, each as `type server message`. */
export const errorsOf = (events: readonly SeenEvent[]): string[] =>
  events
    .filter(({ type }) => type === 'session.error')
    .map((event) => {
      const { type, mcp_server_name, message } = event['error'] as Record<string, string>
      return `${type} ${mcp_server_name} ${message}`
    })

/** Waits two seconds at most and then returns. The caller asserts the condition afterwards. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !isSo(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
