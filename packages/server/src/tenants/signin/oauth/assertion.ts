/** Exchanges a token of a company's identity provider for an access token. RFC 7523 2.1 */
import { iso } from '@steward/base/time.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import type { Ground } from '../../../ground/ground.ts'
import { loginStore } from '../../api-keys/logins.ts'
import type { Membership } from '../../people/authenticate.ts'
import type { Identities, Identity } from '../../people/identities/identities.ts'
import type { LoginGrant } from './exchange.ts'
import type { OAuthRefusal } from './refusal.ts'
import { isRefusal, refuse } from './refusal.ts'
import { exchangedAccessMs, storeTokens } from './tokens.ts'

/** Stands for the client, which such a request does not name. */
const client = 'identity-token'
const longestName = 100

/** What the official client sends for the workspace that needs no name. */
const anyWorkspace = 'default'

/** The workspace that the request names, or the only one that the rules give. */
function chooseWorkspace(
  { memberships }: Identity,
  named: string | undefined,
): Membership | OAuthRefusal {
  const open = memberships.filter(({ archived_at }) => archived_at === null)
  if (named !== undefined && named !== anyWorkspace)
    return (
      open.find(({ id }) => id === named) ??
      refuse('invalid_grant', 'workspace_id: no rule gives the holder of the token this workspace')
    )
  const [first] = open
  if (!first) return refuse('invalid_grant', 'assertion: no rule gives its holder a workspace')
  return open.length === 1
    ? first
    : refuse('invalid_request', 'workspace_id: the rules give several workspaces, so name one')
}

export function assertionExchange({
  databases: { control },
  clock,
  identities,
}: Pick<Ground, 'databases' | 'clock'> & {
  identities: Pick<Identities, 'identify' | 'isToken'>
}) {
  async function identify(assertion: string): Promise<Identity | OAuthRefusal> {
    if (!identities.isToken(assertion))
      return refuse(
        'invalid_grant',
        'assertion: is no token of an issuer that IDENTITY_PROVIDERS names',
      )
    try {
      return await identities.identify(assertion)
    } catch (error) {
      if (error instanceof PlatformError && error.kind === 'unauthorized')
        return refuse('invalid_grant', `assertion: ${error.message}`)
      throw error
    }
  }

  /** A subject has one login in a workspace, however often its token is exchanged. */
  async function holdLogin(
    tx: Queries,
    { id: subject, label }: Identity,
    { id: tenant, role }: Membership,
  ): Promise<string> {
    const now = clock.now()
    const name = label.slice(0, longestName).toWellFormed()
    const expiresAt = iso(now + exchangedAccessMs)
    await lockAdvisory(tx, `login ${tenant} ${subject}`)
    const known = await loginStore(tx).findOfSubject(tenant, client, subject)
    if (!known) {
      const actor = { type: 'subject', id: subject, name }
      const made = { client: { id: client, name }, person: subject, actor, expiresAt, role }
      return loginStore(tx).create(tenant, made, now)
    }
    await loginStore(tx).setRole(tenant, known.id, { role, name })
    await loginStore(tx).extend(tenant, known.id, { expiresAt, now })
    return known.id
  }

  return async function exchangeAssertion({
    assertion,
    workspace,
  }: {
    assertion: string
    workspace: string | undefined
  }): Promise<LoginGrant | OAuthRefusal> {
    const identity = await identify(assertion)
    if (isRefusal(identity)) return identity
    const chosen = chooseWorkspace(identity, workspace)
    if (isRefusal(chosen)) return chosen
    const tenant = chosen.id
    const tokens = await control.write(async (tx) => {
      const keyId = await holdLogin(tx, identity, chosen)
      const issued = { refresh: undefined, isNew: false, now: clock.now() }
      return storeTokens(tx, { tenant, keyId }, { ...issued, validMs: exchangedAccessMs })
    })
    return { tokens, tenant, person: identity.id, scope: '' }
  }
}
