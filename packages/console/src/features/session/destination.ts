/** Where a call goes, as far as that is known before it is made. */
import type { Session, VaultCredential } from '../../lib/api/types.ts'
import type { ToolCall } from './conversation.ts'

/** `url`: of the MCP server, for which a vault may hold a credential. */
export function hostOfCall(
  { server, name, input }: Pick<ToolCall, 'server' | 'name' | 'input'>,
  { mcp_servers: servers }: Pick<Session['agent'], 'mcp_servers'>,
): { url?: string; host?: string } {
  const url = servers.find((each) => each.name === server)?.url
  if (server !== undefined) return typeof url === 'string' ? { url, ...hostIn(url) } : {}
  return name === 'web_fetch' && typeof input['url'] === 'string' ? hostIn(input['url']) : {}
}

const hostIn = (url: string): { host?: string } =>
  URL.canParse(url) ? { host: new URL(url).host } : {}

/** The credential that the service adds: an equal address comes before an equal host, and of several vaults the first. */
export function credentialFor(
  url: string,
  credentials: readonly VaultCredential[],
): string | undefined {
  const bound = credentials.flatMap(({ auth, display_name, id }) =>
    auth.type === 'static_bearer' || auth.type === 'mcp_oauth'
      ? [{ to: auth.mcp_server_url, name: display_name || id }]
      : [],
  )
  const { host } = hostIn(url)
  return (bound.find(({ to }) => to === url) ?? bound.find(({ to }) => hostIn(to).host === host))
    ?.name
}
