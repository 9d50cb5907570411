/** What the web tools of a session reach. */
import type { WebAccess } from '@steward/harness/tools/egress.ts'
import type { GuardedFetch } from '@steward/harness/tools/fetch.ts'
import type { SearchProvider } from '@steward/harness/tools/web-search/provider.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import type { SessionEgress } from '../egress/callers/session.ts'

export type WebDeps = {
  search: SearchProvider | null
  /** The tenants' shares of the threads that convert fetched pages. */
  conversions: Share
}

export const createWebAccess = (
  { search, conversions }: WebDeps,
  egress: SessionEgress,
  tenant: string,
): WebAccess => ({
  fetch: egress.outboundFetch({ credentials: false }),
  conversionSlot: (signal) => conversions.wait(tenant, signal),
  search: search && searchBy(search, egress.searchFetch()),
})

/**
 * The operator names the search engine, so the operator's dialler reaches it whatever the session's environment allows.
 */
const searchBy = (engine: SearchProvider, fetch: GuardedFetch): SearchProvider => ({
  search: (query, { signal }) => engine.search(query, { fetch, signal }),
})
