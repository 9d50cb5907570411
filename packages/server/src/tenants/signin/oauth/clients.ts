/** The programs that may ask people to log in, and where a code may be sent. */
import type { RegisteredClients } from '../../../ground/config/oauth-clients.ts'

export type OAuthClient = { id: string; name: string; redirectUris: readonly string[] }

/** The command line of the official client. It listens at the loopback address, or shows the code to copy. */
const officialClient: OAuthClient = {
  id: '41077d10-94b8-4194-be48-d251e9eb21b4',
  name: 'Anthropic CLI',
  redirectUris: [],
}

export const codePath = '/oauth/code/callback'

export type OAuthClients = {
  find: (id: string) => OAuthClient | undefined
  /** `own`: the base URL of this service, as the browser has it. */
  mayRedirect: (client: OAuthClient, uri: string, own: string) => boolean
}

/** Programs on the person's own machine listen at any port. RFC 8252 7.3 */
const loopback = ['localhost', '127.0.0.1', '[::1]']

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopback.includes(hostname)

export const isCodePage = (uri: string, own: string): boolean =>
  uri === own + codePath || uri.startsWith(`${own}${codePath}?`)

export function oauthClients(registered: RegisteredClients): OAuthClients {
  const all = new Map([[officialClient.id, officialClient]])
  for (const [id, { name, redirect_uris: redirectUris }] of Object.entries(registered))
    all.set(id, { id, name, redirectUris })
  return {
    find: (id) => all.get(id),
    mayRedirect({ redirectUris }, uri, own) {
      if (redirectUris.includes(uri) || isCodePage(uri, own)) return true
      const url = URL.canParse(uri) ? new URL(uri) : undefined
      if (!url || url.username || url.password || uri.includes('#')) return false
      return isLoopback(url)
    },
  }
}
