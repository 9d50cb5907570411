import type { Fetch } from '../fetch.ts'

export type SearchQuery = {
  query: string
  /** Hosts, each with an optional path; never both lists. */
  allowed: readonly string[]
  blocked: readonly string[]
  /** ISO 3166-1 alpha-2. */
  country?: string
}
export type SearchHit = { url: string; title: string; text: string }

/** A search engine of the web. What it cannot do is a value whose message the model reads. */
export interface SearchProvider {
  /** Lists are a wish to the engine: whoever asks judges what comes back. */
  search(
    query: SearchQuery,
    options: { fetch: Fetch; signal: AbortSignal },
  ): Promise<{ ok: true; hits: SearchHit[] } | { ok: false; message: string }>
}
