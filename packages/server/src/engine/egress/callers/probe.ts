/** Tries an MCP server outside of any session, with the credentials of vaults. */
import { probeMcp } from '@steward/harness/tools/mcp/probe.ts'
import type { McpProbeParams, McpProbeShown } from '@steward/protocol/mcp-probes.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { OutboundContext, RuledLease } from '../inject/context.ts'
import type { Forward } from '../inject/forward.ts'
import { credentialOfServer, isAgentIdentity } from '../policy/credential.ts'
import type { SessionNow } from '../policy/store.ts'
import { loadCredentials } from '../policy/store.ts'
import { paceAnswers } from './paced-answers.ts'
import { fetchOfServer } from './session.ts'

/** The rules of an environment that limits nothing. The dialler's walls hold beside them. */
const anywhere = {
  limited: false,
  allowlist: [],
  denylist: [],
  allow_mcp_servers: true,
  allow_package_managers: false,
}
/** The uses of credentials have no session. */
const noSession = ''
const longestDescription = 400

export type ProbeMcpServer = ReturnType<typeof mcpProbe>

export function mcpProbe({
  databases,
  clock,
  forward,
  openContext,
}: Ground & {
  forward: Forward
  openContext: (lease: RuledLease, read: () => Promise<SessionNow>) => OutboundContext
}) {
  return async (
    tenant: string,
    { name, url, vault_ids }: McpProbeParams,
    signal: AbortSignal,
  ): Promise<Omit<McpProbeShown, 'id'>> => {
    const vaults = vault_ids ?? []
    const { read } = await databases.open(tenant)
    const lease = { tenant, session: noSession, environment: anywhere, generation: null }
    const context = openContext(lease, () => holdingsOf(read, tenant, vaults))
    try {
      const chosen = credentialOfServer(await loadCredentials(read, tenant, vaults), new URL(url))
      // No agent calls here, so that none can prove who it is.
      const isSent = chosen !== undefined && !isAgentIdentity(chosen.row)
      const credential = isSent
        ? { vault_id: chosen.row.vault_id, credential_id: chosen.row.id }
        : null
      const server = name ?? new URL(url).hostname
      const fetch = paceAnswers(tenant, fetchOfServer(forward, context, { name: server, url }))
      const began = clock.now()
      const { isConnected, tools, failures } = await probeMcp(
        { name: server, url, fetch },
        { sleep: (ms, until) => clock.sleep(ms, until), signal },
      )
      const [failure] = failures
      return {
        type: 'mcp_probe',
        ok: isConnected,
        url,
        credential,
        tools: tools.map((tool) => ({
          name: tool.name,
          title: tool.title ?? tool.annotations?.title ?? null,
          description: shortened(tool.description),
        })),
        left_out: isConnected && failure ? failure.message : null,
        error: isConnected ? null : errorOf(failure, credential !== null),
        ms: Math.round(clock.now() - began),
      }
    } finally {
      context.revoke()
    }
  }
}

const holdingsOf = async (
  read: Reads,
  tenant: string,
  vaults: readonly string[],
): Promise<SessionNow> => ({
  generation: 0,
  isOver: false,
  credentials: await loadCredentials(read, tenant, vaults),
  repositories: [],
})

function shortened(text: string | undefined): string | null {
  if (text === undefined) return null
  return text.length > longestDescription
    ? `${text.slice(0, longestDescription).toWellFormed()}…`
    : text
}

type Failure = { type: NonNullable<McpProbeShown['error']>['type']; message: string }

/** `failure` is undefined when the caller has left. */
function errorOf(failure: Failure | undefined, hasCredential: boolean): McpProbeShown['error'] {
  const { type, message } = failure ?? {
    type: 'mcp_connection_failed_error' as const,
    message: 'the MCP server was not waited for',
  }
  return { type, message, advice: advice[type](hasCredential) }
}

const advice: Record<Failure['type'], (hasCredential: boolean) => string> = {
  mcp_authentication_failed_error: (hasCredential) =>
    hasCredential
      ? 'The credential that was sent is refused: replace its token, or authorize again, and check what it may do there.'
      : 'No credential was sent: put one for this URL into a vault, and name the vault in vault_ids.',
  mcp_connection_failed_error: () =>
    'Check the URL with its path, that the server runs and speaks MCP over HTTP, and that this service may reach its address.',
}
