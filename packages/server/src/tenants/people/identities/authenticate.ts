/** Turns a token of a company's identity provider into its principal. */
import { recentLookups } from '../../../ground/core/fairness/recent-lookups.ts'
import { forbidden, invalid, unauthorized } from '../../../ground/core/errors.ts'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Header } from '../../../ground/http/caller.ts'
import type { Authenticate, CallerRules, Principal } from '../../../ground/http/principal.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { Membership } from '../authenticate.ts'
import { peopleTopic, selectWorkspace } from '../authenticate.ts'
import type { Identities, Identity } from './identities.ts'
import { identityStore } from './store.ts'

/** A workspace that is there, and whether it is archived; undefined after its deletion. */
type FindWorkspace = (
  id: string,
) => Promise<Pick<Membership, 'id' | 'name' | 'archived_at'> | undefined>

const mostNames = 50

/** Names of claims help to mend a rule; values would tell a reader of the answer about others. */
const unknownHere = ({ provider, claimNames }: Identity) =>
  forbidden(
    `no rule of the identity provider ${provider.id} gives the holder of this token a workspace; the token has the claims ${claimNames.slice(0, mostNames).join(', ')}`,
    'not_a_member',
  )

/** The workspace that the request names, or the only one. */
export function membershipFor({ memberships }: Pick<Identity, 'memberships'>, header: Header) {
  const chosen = selectWorkspace({ workspaces: memberships, chosen: null }, header)
  if (chosen) return chosen
  const [first] = memberships
  if (memberships.length === 1 && first) return first
  throw invalid(
    'anthropic-workspace-id: the rules give this token several workspaces, so name one by this header',
  )
}

async function principalOf(
  identity: Identity,
  tokenHash: string,
  { header, rules, find }: { header: Header; rules: CallerRules; find: FindWorkspace },
): Promise<Principal> {
  if (identity.memberships.length === 0) throw unknownHere(identity)
  const { id: tenant, role } = membershipFor(identity, header)
  const workspace = await find(tenant)
  if (!workspace) throw unauthorized('the workspace of this token does not exist, or was deleted')
  if (workspace.archived_at !== null && !rules.callers.includes('owner'))
    throw forbidden(`the workspace ${workspace.name} is archived`, 'workspace_archived')
  return { kind: 'subject', tenant, subjectId: identity.id, tokenHash, role, name: identity.label }
}

const bearer = /^Bearer\s+(\S+)\s*$/i

type IdentityDeps = Ground & { identities: Identities }

/** Other credentials are those of `others`. */
export function withTokens(
  others: Authenticate,
  { identities, databases, clock, bus }: IdentityDeps,
): Authenticate {
  const isAlone = databases.control.dialect === 'sqlite'
  const workspaces = recentLookups((id) => identityStore(databases.control.read).workspace(id), {
    clock,
    isAlone,
  })
  bus.subscribe(peopleTopic, () => workspaces.forgetAll())
  return async (header, rules) => {
    const token = bearer.exec(header('authorization') ?? '')?.[1]
    if (token === undefined || !identities.isToken(token)) return others(header, rules)
    const identity = await identities.identify(token)
    return principalOf(identity, hashToken(token), {
      header,
      rules,
      find: (id) => workspaces.find(id),
    })
  }
}
