/** Where a call goes, as far as that is known before it is made. */
import type { Session, VaultCredential } from '../../lib/api/types.ts'
import type { ToolCall } from './conversation.ts'

/** `url`: of the MCP server, for which a vault may hold a credential. */
export function destinationOf(
  { server, name, input }: Pick<ToolCall, 'server' | 'name' | 'input'>,
  { mcp_servers: servers }: Pick<Session['agent'], 'mcp_servers'>,
): { url?: URL; host?: string } {
  if (server !== undefined) {
    const url = parsed(servers.find((each) => each.name === server)?.url)
    return url ? { url, host: url.host } : {}
  }
  const page = name === 'web_fetch' ? parsed(input['url']) : undefined
  return page ? { host: page.host } : {}
}

const parsed = (url: unknown): URL | undefined =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined

/**
 * The credential that the vaults hold for an MCP server, chosen as the service chooses it: an equal address comes before
 * an equal host, then the first vault, then the oldest credential. An https credential does not go over http.
 */
export function credentialFor(
  url: URL,
  vaults: readonly (readonly VaultCredential[])[],
): string | undefined {
  const bound = vaults.flatMap((credentials) => credentials.toSorted(byAge).flatMap(boundTo))
  const found =
    bound.find(({ to }) => normalUrl(to) === normalUrl(url)) ??
    bound.find(({ to }) => to.hostname === url.hostname && mayCarry(to, url))
  return found?.name
}

const byAge = (one: VaultCredential, other: VaultCredential): number =>
  Date.parse(one.created_at) - Date.parse(other.created_at)

function boundTo({ auth, display_name, id }: VaultCredential): { to: URL; name: string }[] {
  const to =
    auth.type === 'static_bearer' || auth.type === 'mcp_oauth'
      ? parsed(auth.mcp_server_url)
      : undefined
  return to ? [{ to, name: display_name || id }] : []
}

const mayCarry = (own: URL, url: URL): boolean =>
  url.protocol === 'https:' || (own.protocol === 'http:' && own.host === url.host)

const normalUrl = ({ origin, pathname, search }: URL): string =>
  `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}${search}`
