import type { GuardedFetch } from '@steward/harness/tools/fetch.ts'
import type { SearchProvider } from '@steward/harness/tools/web-search/provider.ts'

/**
 * The operator names the search engine, so the operator's dialler reaches it whatever the session's environment allows.
 */
export const searchBy = (engine: SearchProvider, fetch: GuardedFetch): SearchProvider => ({
  search: (query, { signal }) => engine.search(query, { fetch, signal }),
})
