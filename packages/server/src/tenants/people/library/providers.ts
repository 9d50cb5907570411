/** Identity providers, of which none is asked at the start: the service starts without them, and a later sign-in works. */
import type { Log } from '@steward/base/log.ts'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { z } from 'zod'
import { asOperator } from '../../../ground/core/security/dial.ts'
import type { IdentityProvider, NamedEndpoints } from '../../../ground/config/identity-providers.ts'
import type { GroupSignIns } from '../identities/at-provider.ts'
import { keepProof } from './held-proof.ts'

const Profile = z.looseObject({
  sub: z.union([z.string(), z.number()]).nullish(),
  id: z.union([z.string(), z.number()]).nullish(),
  email: z.string().nullish(),
  email_verified: z.union([z.boolean(), z.string()]).nullish(),
  name: z.string().nullish(),
  login: z.string().nullish(),
})
const Addresses = z.array(
  z.looseObject({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
)

async function readProvider(url: string, accessToken: string): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${accessToken}`,
    accept: 'application/json',
    'user-agent': 'Steward',
  }
  const answer = await asOperator(() => fetch(url, { headers, redirect: 'error' }))
  if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`)
  return answer.json()
}

/** Id, name and address at the provider. `emailVerified`: the provider vouches for the address. */
async function profileOf({ userInfoUrl, emailsUrl }: NamedEndpoints, accessToken: string) {
  const profile = Profile.parse(await readProvider(userInfoUrl, accessToken))
  const subject = profile.sub ?? profile.id
  if (subject === null || subject === undefined) throw new Error('the profile has no sub and no id')
  const who = { id: String(subject), name: profile.name ?? profile.login ?? '' }
  if (emailsUrl === undefined) {
    const isVerified = String(profile.email_verified) === 'true'
    return { ...who, email: profile.email ?? undefined, emailVerified: isVerified }
  }
  const addresses = Addresses.parse(await readProvider(emailsUrl, accessToken))
  const primary = addresses.find((each) => each.primary)
  return { ...who, email: primary?.email, emailVerified: primary?.verified ?? false }
}

type ProfileTokens = {
  accessToken?: string | undefined
  idToken?: string | undefined
  refreshToken?: string | undefined
}

type ProviderDeps = { log: Log; readProof: GroupSignIns['read'] }

/** The profile at a company's provider. What else the provider says is kept until the sign-in has ended. */
async function groupProfile(
  provider: string,
  access: string,
  { idToken: id, refreshToken: refresh }: ProfileTokens,
  { readProof }: ProviderDeps,
) {
  const proof = await readProof(provider, { access, id, refresh })
  keepProof(proof)
  const { subject, sub, email, isEmailVerified, name } = proof
  return { id: subject, sub, email, emailVerified: isEmailVerified, name }
}

function askProfile(provider: IdentityProvider, deps: ProviderDeps) {
  return async (tokens: ProfileTokens) => {
    const { accessToken } = tokens
    if (accessToken === undefined) return null
    try {
      return 'issuer' in provider
        ? await groupProfile(provider.id, accessToken, tokens, deps)
        : await profileOf(provider, accessToken)
    } catch (error) {
      deps.log.warn('an identity provider did not say who a person is', {
        provider: provider.id,
        error,
      })
      return null
    }
  }
}

/** The library asks for the document of an issuer with the first sign-in there, and again where that has failed. */
const endpointsOf = (provider: IdentityProvider) =>
  'issuer' in provider
    ? {
        discoveryUrl: `${provider.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
        requireIdTokenVerification: true,
      }
    : { authorizationUrl: provider.authorizationUrl, tokenUrl: provider.tokenUrl }

/** `callback`: the URL to which the provider sends the browser back. */
export const providersPlugin = (
  providers: readonly IdentityProvider[],
  callback: (provider: string) => string,
  deps: ProviderDeps,
) =>
  genericOAuth({
    config: providers.map((provider) => ({
      providerId: provider.id,
      name: provider.name,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      ...endpointsOf(provider),
      scopes: [...provider.scopes],
      pkce: true,
      redirectURI: callback(provider.id),
      accountSubject: ({ profile }: { profile: { id?: string | number | null | undefined } }) =>
        profile.id ?? '',
      getUserInfo: askProfile(provider, deps),
    })),
  })
