/** The endpoints that clients call: tokens, device codes, the end of a login, and what of OAuth is here. */
import {
  DeviceAuthorization,
  OAuthError,
  OAuthMetadata,
  OAuthTokens,
} from '@steward/protocol/oauth.ts'
import { parsedBy } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import type { Header } from '../../../ground/http/caller.ts'
import type { RawRequest, Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { beginDeviceLogin } from './device.ts'
import type { OAuthDeps } from './grant-types.ts'
import { grantTypes } from './grant-types.ts'
import { inOAuthWords, noStore, oauthAnswer } from './oauth-answers.ts'
import { refuse } from './refusal.ts'

const oauth = section('OAuth', ['anyone'], '/v1/oauth')
const wellKnown = section('OAuth', ['anyone'], '/.well-known')

const ofRevocation = z.object({ token: z.string().min(1).max(2_000) })

/** The parameters of a request, as a form or as JSON. */
async function readParameters(header: Header, raw: RawRequest): Promise<Record<string, string>> {
  if (!header('content-type')?.includes('json')) return Object.fromEntries(await raw.form())
  const body = parsedBy(z.record(z.string(), z.unknown()), await raw.json())
  const given = Object.entries(body.ok ? body.value : {})
  return Object.fromEntries(
    given.filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

const form = {
  bytes: {
    type: 'application/x-www-form-urlencoded',
    description: 'The parameters of the grant, as a form or as a JSON object.',
  },
  isExtension: true,
}
const refusals = [
  { status: 400, answer: OAuthError, description: 'Refused, in the words of RFC 6749 5.2.' },
]

export function oauthEndpoints(deps: OAuthDeps): Route[] {
  const { people, clients, exchanges } = deps
  const { databases, clock, at, origin } = people
  const grants = grantTypes(deps)

  return [
    oauth.raw.post(
      '/token',
      {
        summary: 'Exchange a code, a device code or a refresh token for tokens',
        description:
          'The official client does so by itself for a profile of the type `user_oauth`.',
        answer: OAuthTokens,
        further: refusals,
        ...form,
      },
      ({ header, address }, raw) =>
        inOAuthWords(people, address, async () =>
          grants.exchange(await readParameters(header, raw)),
        ),
    ),
    oauth.raw.post(
      '/device_authorization',
      {
        summary: 'Begin the login of a device without a browser',
        description:
          'The device shows `user_code` to its person, and asks the token endpoint meanwhile.',
        answer: DeviceAuthorization,
        further: refusals,
        ...form,
      },
      ({ header, address }, raw) =>
        inOAuthWords(people, address, async () => {
          await people.admit('sign_in', address)
          const { client_id, scope } = await readParameters(header, raw)
          if (!client_id) return refuse('invalid_request', 'client_id: is required')
          const client = clients.find(client_id)
          if (!client)
            return refuse('invalid_client', 'client_id: is no client that this server knows')
          const own = origin.of(header) + at('')
          const asked = { client, scope: (scope ?? '').slice(0, 1_000), own }
          return oauthAnswer(200, await beginDeviceLogin({ databases, clock }, asked))
        }),
    ),
    oauth.raw.post(
      '/revoke',
      {
        summary: 'End a login by one of its tokens',
        description: 'The answer is the same for a token that is not known.',
        answer: 'none',
        further: refusals,
        ...form,
      },
      ({ header, address }, raw) =>
        inOAuthWords(people, address, async () => {
          const given = parsedBy(ofRevocation, await readParameters(header, raw))
          if (!given.ok) return refuse('invalid_request', given.problems)
          await people.admit('failures', address)
          await exchanges.revoke(given.value.token)
          return { reply: 'empty', status: 200, headers: noStore }
        }),
    ),
    wellKnown.get(
      '/oauth-authorization-server',
      {
        summary: 'Get what clients of OAuth need to know',
        answer: OAuthMetadata,
        isExtension: true,
      },
      async ({ header }) => {
        const own = origin.of(header) + at('')
        return {
          issuer: own,
          authorization_endpoint: `${own}/oauth/authorize`,
          token_endpoint: `${own}/v1/oauth/token`,
          revocation_endpoint: `${own}/v1/oauth/revoke`,
          device_authorization_endpoint: `${own}/v1/oauth/device_authorization`,
          response_types_supported: ['code'],
          response_modes_supported: ['query'],
          grant_types_supported: grants.names,
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          revocation_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        }
      },
    ),
  ]
}
