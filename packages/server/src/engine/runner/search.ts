import type { Fetch } from '@steward/harness/tools/fetch.ts'
import type { SearchProvider } from '@steward/harness/tools/web-search/provider.ts'

/** The engine is the operator's: it is dialled as the operator's endpoints may be, whatever its session may reach. */
export const searchBy = (engine: SearchProvider, fetch: Fetch): SearchProvider => ({
  search: (query, { signal }) => engine.search(query, { fetch, signal }),
})
