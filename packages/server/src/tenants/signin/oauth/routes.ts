/** Logins of clients for people: the parts that a process builds once. */
import type { RegisteredClients } from '../../../ground/config/oauth-clients.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { Route } from '../../../ground/http/route.ts'
import type { Identities } from '../../people/identities/identities.ts'
import type { People } from '../../people/people.ts'
import { authorizePages } from './authorize-pages.ts'
import { oauthClients } from './clients.ts'
import { devicePages } from './device-pages.ts'
import { oauthExchanges } from './exchanges.ts'
import { oauthEndpoints } from './endpoints.ts'
import type { RefreshKeys } from './tokens.ts'

export type OAuthSettings = {
  clients: RegisteredClients
  /** Derive refresh tokens: the first new ones, the others those of before a change of the root secret. */
  refreshKeys: RefreshKeys
  identities: Pick<Identities, 'identify' | 'isToken'>
}

export function oauthLoginRoutes(
  ground: Ground,
  {
    people,
    settings,
    organizationId,
  }: { people: People; settings: OAuthSettings; organizationId: string | undefined },
): Route[] {
  const clients = oauthClients(settings.clients)
  const exchanged = oauthExchanges({ ...ground, ...settings })
  return [
    ...oauthEndpoints({ people, clients, exchanges: exchanged, organizationId }),
    ...authorizePages(people, clients),
    ...devicePages(people, clients),
  ]
}
