/** From the claims of a token to roles in workspaces. */
import type { CompanyProvider, IdentityRule } from '../../../ground/config/company-providers.ts'
import type { Role } from '../../../ground/core/security/roles.ts'
import { widerRole } from '../../../ground/core/security/roles.ts'
import type { Claims } from './claims.ts'
import { claimTexts, matchesAny } from './claims.ts'

/** Roles by the id or the name of the workspace, as the rules name it. */
export type Rights = ReadonlyMap<string, Role>

const matches = (provider: CompanyProvider, rule: IdentityRule, claims: Claims): boolean =>
  (!rule.groups || matchesAny(rule.groups, claimTexts(claims, provider.claims.groups))) &&
  (!rule.subject || matchesAny(rule.subject, claimTexts(claims, provider.claims.subject))) &&
  Object.entries(rule.claims ?? {}).every(([name, patterns]) =>
    matchesAny(patterns, claimTexts(claims, name)),
  )

/** The widest of the matching roles holds in each workspace. */
export function rightsBy(provider: CompanyProvider, claims: Claims): Rights {
  const rights = new Map<string, Role>()
  for (const rule of provider.rules)
    if (matches(provider, rule, claims))
      rights.set(rule.workspace, widerRole(rights.get(rule.workspace), rule.role))
  return rights
}
