/** What servers verify the tokens of agents by: discovery of OpenID Connect, and the public keys. */
import { IdentityDiscovery, IdentityKeys } from '@steward/protocol/agent-identity.ts'
import type { Clock } from '@steward/base/time.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { AgentIdentity } from './keys.ts'

const wellKnown = section('Agent identity', ['anyone'], '/.well-known')

/** The next key is published a month before it signs, so that an hour is short. */
const cached = { 'cache-control': 'public, max-age=3600' }
const reply = (body: object): RouteReply => ({ reply: 'json', status: 200, body, headers: cached })

export const agentIdentityRoutes = ({
  identity,
  clock,
}: {
  identity: AgentIdentity
  clock: Clock
}): Route[] => [
  wellKnown.get(
    '/jwks.json',
    {
      summary: 'Get the public keys of the tokens of agents',
      answer: IdentityKeys,
      isExtension: true,
    },
    async () => reply({ keys: identity.published(clock.now()) }),
  ),
  wellKnown.get(
    '/openid-configuration',
    {
      summary: 'Get what verifiers of the tokens of agents need to know',
      answer: IdentityDiscovery,
      isExtension: true,
    },
    async () =>
      reply({
        issuer: identity.issuer,
        jwks_uri: `${identity.issuer}/.well-known/jwks.json`,
        id_token_signing_alg_values_supported: ['ES256'],
        subject_types_supported: ['public'],
        response_types_supported: ['none'],
        claims_supported: [
          ...['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'workspace', 'agent', 'agent_version'],
          ...['session', 'on_behalf_of', 'claims'],
        ],
      }),
  ),
]
