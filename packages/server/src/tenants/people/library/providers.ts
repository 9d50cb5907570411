/** Identity providers with explicit endpoints: the service starts without them, and a later sign-in works. */
import type { Log } from '@steward/base/log.ts'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { z } from 'zod'
import { asOperator } from '../../../ground/core/security/dial.ts'
import type { IdentityProvider } from '../../../ground/config/identity-providers.ts'

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
async function profileOf({ userInfoUrl, emailsUrl }: IdentityProvider, accessToken: string) {
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

/** `callback`: the URL to which the provider sends the browser back. */
export const providersPlugin = (
  providers: readonly IdentityProvider[],
  callback: (provider: string) => string,
  log: Log,
) =>
  genericOAuth({
    config: providers.map((provider) => ({
      providerId: provider.id,
      name: provider.name,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      authorizationUrl: provider.authorizationUrl,
      tokenUrl: provider.tokenUrl,
      scopes: [...provider.scopes],
      pkce: true,
      redirectURI: callback(provider.id),
      accountSubject: ({ profile }: { profile: { id?: string | number | null | undefined } }) =>
        profile.id ?? '',
      getUserInfo: async ({ accessToken }: { accessToken?: string | undefined }) =>
        accessToken === undefined
          ? null
          : profileOf(provider, accessToken).catch((error: unknown) => {
              log.warn('an identity provider did not say who a person is', {
                provider: provider.id,
                error,
              })
              return null
            }),
    })),
  })
