/** Makes the memberships of a person those that the groups at a provider give. */
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { CompanyProvider } from '../../../ground/config/company-providers.ts'
import { notifyOfPeople } from '../../people/authenticate.ts'
import type { Membership } from '../../people/authenticate.ts'
import { memberStore } from '../../people/members/store.ts'
import { removeMember } from '../departure.ts'
import { groupStore } from './store.ts'

type NamedProvider = Pick<CompanyProvider, 'id' | 'issuer' | 'revokesKeys'>
type GroupChange = { person: string; provider: NamedProvider; now: number }

const actorOf = ({ id, issuer }: NamedProvider) =>
  ({ type: 'identity_provider', id, name: issuer }) as const

/** The last owner goes too: a person who has left the company keeps nothing. */
async function removeByGroups(
  tx: Queries,
  tenant: string,
  { person, provider, now }: GroupChange,
): Promise<void> {
  const { revokesKeys } = provider
  const left = await removeMember(tx, { tenant, person, revokesKeys, now, isForced: true })
  const about = { workspace: tenant, type: 'member', id: person, actor: actorOf(provider) }
  const revoked_keys = left.revoked ? left.keys.length : 0
  auditChange({ ...about, action: 'member.delete', after: { revoked_keys } })
}

/** Memberships that people have made stay as they are. */
export async function applyGroups(
  tx: Queries,
  given: readonly Membership[],
  change: GroupChange,
): Promise<void> {
  const { person, provider, now } = change
  const kept = await groupStore(tx).membershipsOf(person, provider.id)
  const before = new Map(kept.map(({ tenant_id: tenant, role }) => [tenant, role]))
  const actor = actorOf(provider)
  let isChanged = false
  for (const { id: tenant, role } of given) {
    const about = { workspace: tenant, type: 'member', id: person, actor }
    const old = before.get(tenant)
    before.delete(tenant)
    if (old === role) continue
    if (old !== undefined) {
      isChanged = true
      await memberStore(tx).setRole(tenant, person, role)
      auditChange({ ...about, action: 'member.update', before: { role: old }, after: { role } })
      continue
    }
    // A membership that people have made stays.
    if (!(await memberStore(tx).add(tenant, person, role, now, provider.id))) continue
    isChanged = true
    auditChange({ ...about, action: 'member.create', after: { role } })
  }
  for (const tenant of before.keys()) {
    isChanged = true
    await removeByGroups(tx, tenant, change)
  }
  if (isChanged) notifyOfPeople(tx)
}
