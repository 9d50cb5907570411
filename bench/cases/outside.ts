/** A server whose sessions have an upstream, vaults and open gates. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gateSocketOf } from '@steward/server/engine/runner/gate-socket-fixture.ts'
import { watch } from '../client.ts'
import type { OpenGate } from '../line.ts'
import type { Server, Upstream } from '../processes.ts'
import { key, startServer, upstreamProcess } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message } from './setup.ts'

export type Outside = {
  setup: BenchSetup
  server: Server
  upstream: Upstream
  /** The gate of a session that has a credential for the upstream. */
  gate: OpenGate
  /** The gate of a session without a credential, so the gate does not read the traffic. */
  tunnel: OpenGate
  /** Starts another process on the same database; undefined when only one process may use the database. */
  another(): Promise<Server | undefined>
  close(): Promise<void>
}

export async function outside(
  dataDir: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): Promise<Outside> {
  const upstream = await upstreamProcess(dataDir)
  const serverEnv = {
    ...env,
    NODE_EXTRA_CA_CERTS: upstream.certificate,
    EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
    EGRESS_TENANT_TARGETS: '127.0.0.0/8:*,[::1]:*',
    SANDBOX_IDLE_SECONDS: '3600',
  }
  const server = await startServer(dataDir, serverEnv)
  const setup = await setUp(server.base)
  const vault = await vaultOf(setup, {
    type: 'static_bearer',
    token: 'a token that only the bench knows',
    mcp_server_url: `${upstream.url}/rpc`,
  })
  return {
    setup,
    server,
    upstream,
    gate: await openGate(dataDir, setup, [vault]),
    tunnel: await openGate(dataDir, setup, []),
    another: async () =>
      env['DATABASE_URL'] ? startServer(join(dataDir, 'another'), serverEnv) : undefined,
    async close() {
      await setup.call.close()
      await server.stop()
      await upstream.stop()
    },
  }
}

let made = 0

export const vaultOf = ({ call }: BenchSetup, auth: object): Promise<string> =>
  call.make('/v1/vaults', { name: `bench-${process.pid}-${++made}`, credentials: [{ auth }] })

/** Creates a session of an agent with these MCP servers, by name. */
export async function sessionWith(
  { call, environment }: BenchSetup,
  servers: Readonly<Record<string, string>>,
  { model = 'one', vaults = [] }: { model?: string; vaults?: string[] } = {},
): Promise<string> {
  const agent = await call.make('/v1/agents', {
    name: `bench-${process.pid}-${++made}`,
    model: { id: model },
    tools: [{ type: 'agent_toolset_20260401' }],
    mcp_servers: Object.entries(servers).map(([name, url]) => ({ name, type: 'url', url })),
  })
  return call.make('/v1/sessions', { agent, environment_id: environment, vault_ids: vaults })
}

/** Opens a gate by a turn that runs a command. The gate stays open as long as its sandbox. */
async function openGate(dataDir: string, setup: BenchSetup, vaults: string[]): Promise<OpenGate> {
  const session = await sessionWith(setup, {}, { model: 'bash', vaults })
  const stream = await watch(setup.base, session)
  const idle = stream.until('session.status_idle')
  await setup.call.post(`/v1/sessions/${session}/events`, message())
  await idle
  await stream.close()
  const [bundle = ''] = readdirSync(join(dataDir, 'egress'))
  return {
    socket: gateSocketOf(dataDir, session),
    ca: readFileSync(join(dataDir, 'egress', bundle), 'utf8'),
  }
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

export const proxyRequest = (base: string, session: string, server: string): string =>
  [
    `POST /v1/ext/mcp-proxy/${session}/${server} HTTP/1.1`,
    `Host: ${new URL(base).host}`,
    `X-Api-Key: ${key}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${ping.length}`,
    '',
    ping,
  ].join('\r\n')
