import type { GuardedFetch } from '../fetch.ts'

export type SearchQuery = {
  query: string
  /** Hosts, each with an optional path. At most one of the two lists is used. */
  allowed: readonly string[]
  blocked: readonly string[]
  /** ISO 3166-1 alpha-2. */
  country?: string
}
export type SearchHit = { url: string; title: string; text: string }

/** A web search engine. A failure is a value whose message the model reads. */
export interface SearchProvider {
  /** The lists are a wish; the caller filters the hits. */
  search(
    query: SearchQuery,
    options: { fetch: GuardedFetch; signal: AbortSignal },
  ): Promise<{ ok: true; hits: SearchHit[] } | { ok: false; message: string }>
}
