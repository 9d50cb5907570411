/** Ways out of the service that tools are given. All of them are judged by the session's egress. */
import type { SearchProvider } from './web-search/provider.ts'

/** As the global one, but that redirects are never followed. Rejects with `Refused` for what was not sent. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export type Outside = {
  /** Adds the credential of the host it goes to. For custom tools that the service calls. */
  outbound: Fetch
  /** Null where the web tools are not offered. */
  web: Web | null
  /**
   * Variables for one command that was found to be simple, by its words; none when no credential is for it. They
   * are secret, and must be seen by that command's process alone.
   */
  commandSecrets: (words: readonly string[]) => Promise<Record<string, string>>
}

export type Web = {
  /** Never adds a credential. */
  fetch: Fetch
  /** Null when the operator has set up none: calls fail with words that say so. */
  search: SearchProvider | null
}
