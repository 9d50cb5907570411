/** The authentication of callers, the tokens that they may use, and what they follow. */
import { createAuthentication } from '../tenants/api-keys/authenticate.ts'
import { loginAuthentication } from '../tenants/signin/oauth/authenticate.ts'
import { keyUses } from '../tenants/api-keys/uses.ts'
import { callCountsJob } from '../tenants/audit/call-counts.ts'
import { failedSignInsJob } from '../tenants/people/failures.ts'
import type { Config } from '../ground/config/config.ts'
import { claimTokens } from '../ground/core/security/claim-token.ts'
import { mcpTokens } from '../ground/core/security/mcp-token.ts'
import type { Ground } from '../ground/ground.ts'
import { claimedContents, sessionWith } from '../sessions/claimed/reach.ts'
import { workspaceChanges } from '../sessions/events/workspace/changes.ts'
import { claimReader, withinClaim } from '../sessions/work/claim.ts'
import { claimByKey } from '../sessions/work/reach.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import { callCounts } from '../tenants/audit/call-counts.ts'
import { withCookies } from '../tenants/people/authenticate.ts'
import { withTokens } from '../tenants/people/identities/authenticate.ts'
import { createIdentities } from '../tenants/people/identities/identities.ts'
import { openProviders } from '../tenants/people/identities/provider-keys.ts'
import { groupSignIns } from '../tenants/members/by-groups/sign-ins.ts'
import { peopleFor } from './people.ts'
import { keysFor } from './storage.ts'

export function authenticationFor(config: Config, deps: Ground & { limits: Limits }) {
  const tokens = {
    mcpTokens: mcpTokens(...keysFor(config, 'mcp token')),
    claimTokens: claimTokens(...keysFor(config, 'claim token')),
  }
  const claimOf = claimReader({ ...deps, ...tokens })
  const uses = keyUses(deps)
  const logins = loginAuthentication(deps, uses)
  const providers = openProviders(config.companyProviders, deps.clock)
  const groups = groupSignIns({ ...deps, providers })
  const people = peopleFor(config, { ...deps, groups })
  const identities = createIdentities(providers, deps)
  const keys = createAuthentication({ ...deps, ...tokens, ...logins, claimOf, uses })
  const posts = callCounts()
  const changes = workspaceChanges(deps)
  return {
    ...tokens,
    people,
    oauth: {
      clients: config.oauthClients,
      refreshKeys: keysFor(config, 'refresh token'),
      identities,
    },
    posts,
    changes,
    jobs: [
      uses.job,
      logins.job,
      callCountsJob({ ...deps, noted: posts }),
      failedSignInsJob({ ...deps, failures: people.failures }),
      changes.job,
      groups.job,
    ],
    authenticate: withCookies(withTokens(keys, { ...deps, identities }), people),
    identities,
    withinClaim: withinClaim(claimedContents(deps.databases)),
    claimByKey: claimByKey(deps, sessionWith(deps.databases)),
  }
}
