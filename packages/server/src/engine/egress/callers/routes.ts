import { RequestRefused } from '@steward/gate/outbound.ts'
import { z } from 'zod'
import { Timestamp } from '@steward/protocol/primitives.ts'
import { forbidden, PlatformError, unauthorized } from '../../../ground/core/errors.ts'
import type { McpTokens } from '../../../ground/core/security/mcp-token.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Principal } from '../../../ground/http/principal.ts'
import { requireClaim } from '../../../ground/http/principal.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { RouteCall, RawRequest, Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { AskUnderClaim } from '../../../sessions/work/ending.ts'
import type { McpProxy } from './proxy.ts'
import type { RemoteSandboxes } from './remote.ts'

const tokenMs = 15 * 60_000
const path = '/v1/ext/mcp-proxy/:session_id/:server_name'
const servers = section('Credential proxy', ['workspace'], path)

const Token = z.object({
  token: z.string().describe('Send it as `Authorization: Bearer` to the path above it.'),
  expires_at: Timestamp.describe('When the token ends.'),
})

export function mcpProxyRoutes({
  egress: { proxy },
  mcpTokens,
  clock,
  under,
}: {
  egress: { proxy: McpProxy }
  mcpTokens: McpTokens
  clock: Clock
  under: AskUnderClaim
}): Route[] {
  async function pass(
    { tenant, principal, params, search }: RouteCall<typeof path, undefined, undefined>,
    raw: RawRequest,
  ): Promise<RouteReply> {
    const { session_id: session, server_name: server } = params
    checkGrant(principal, session, server)
    try {
      const answer = await under(principal, raw, (asked) =>
        proxy.ask({ tenant, session, server, search }, asked),
      )
      return { reply: 'raw', ...answer }
    } catch (error) {
      if (error instanceof PlatformError || raw.signal.aborted) throw error
      throw shown(error, server)
    }
  }

  const post = servers.raw.post(
    '',
    {
      callers: ['workspace', 'claim', 'mcp'],
      claim: 'session',
      summary: "Send a request to a session's MCP server",
      description: 'With the credential of the session.',
      bytes: { type: 'application/json', description: 'A JSON-RPC message of MCP.' },
    },
    pass,
  )
  const { bytes: _, ...reads } = post
  return [
    post,
    { ...reads, method: 'get', summary: "Follow a session's MCP server" },
    { ...reads, method: 'delete', summary: "End a connection to a session's MCP server" },
    servers.post(
      '/token',
      {
        summary: "Create a token for a session's MCP server",
        description: 'It is valid for 15 minutes, for this server alone.',
        answer: Token,
        status: 201,
      },
      async ({ tenant, params: { session_id: session, server_name: server } }) => {
        await proxy.find(tenant, session, server)
        const expiresAt = clock.now() + tokenMs
        const token = mcpTokens.mint({ tenant, session, server, expiresAt })
        return { token, expires_at: iso(expiresAt) }
      },
    ),
  ]
}

function checkGrant(principal: Principal, session: string, server: string): void {
  if (principal.kind !== 'mcp') return
  if (principal.sessionId === session && principal.server === server) return
  throw unauthorized('this token is for another MCP server')
}

/** The error for the caller: a refusal with its message, and of a failure only its kind. */
function shown(error: unknown, server: string): PlatformError {
  if (!(error instanceof RequestRefused)) {
    const message = `the MCP server ${server} could not be asked${codeOf(error)}`
    return Object.assign(new PlatformError('bad_gateway', message), { cause: error })
  }
  const { reason, message } = error.refusal
  return reason === 'vault'
    ? new PlatformError('unavailable', message)
    : forbidden(message, 'egress_refused')
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^[A-Z][A-Z\d_]+$/.test(code) ? ` (${code})` : ''
}

const tunnels = section('Egress profiles', ['claim'], '/v1/ext/egress/:session_id', 'session')

const SandboxTrust = z.object({
  certificates: z.string().describe('Certificates in PEM that the sandbox has to trust.'),
  variables: z
    .record(z.string(), z.string())
    .describe('Variables of the sandbox: those of the environment, and placeholders for secrets.'),
})

/** Routes for the egress of sandboxes that workers run. */
export function remoteEgressRoutes({
  egress: { remote },
}: {
  egress: { remote: RemoteSandboxes }
}): Route[] {
  return [
    tunnels.raw.get(
      '',
      {
        summary: 'Carry a connection out of a sandbox',
        description: 'Send `Upgrade: steward-egress`; the connection is that of an HTTP proxy.',
        answer: 'any',
      },
      async ({ principal }) => ({
        reply: 'switch',
        protocol: 'steward-egress',
        take: await remote.tunnel(requireClaim(principal)),
      }),
    ),
    tunnels.get(
      '/authorities',
      {
        summary: 'Get certificates and variables of a sandbox',
        answer: SandboxTrust,
      },
      ({ principal }) => remote.authorities(requireClaim(principal)),
    ),
  ]
}
