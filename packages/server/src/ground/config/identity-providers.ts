/** The identity providers that the settings name. */
import type { SettingsValues } from '@steward/base/settings/setting.ts'
import type { CompanyProvider } from './company-providers.ts'
import type { signInProviders } from './sections/sign-in.ts'

export type IdentityProvider = {
  /** The id in the path of the sign-in. */
  id: string
  /** The name that people see. */
  name: string
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  scopes: readonly string[]
} & (NamedEndpoints | { issuer: string })

/** Endpoints that the settings name. Those of an issuer are found by discovery. */
export type NamedEndpoints = {
  authorizationUrl: string
  tokenUrl: string
  userInfoUrl: string
  /** URL with the person's verified mail addresses, when the profile does not have them. */
  emailsUrl?: string
}

const google = {
  id: 'google',
  name: 'Google',
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  userInfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
  scopes: ['openid', 'email', 'profile'],
}

const github = {
  id: 'github',
  name: 'GitHub',
  authorizationUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  userInfoUrl: 'https://api.github.com/user',
  emailsUrl: 'https://api.github.com/user/emails',
  scopes: ['read:user', 'user:email'],
}

type ProviderSettings = SettingsValues<typeof signInProviders>['identityProviders']

const clientOf = ({ clientId, clientSecret }: ProviderSettings['google']) =>
  clientId && clientSecret ? { clientId, clientSecret } : undefined

function genericOf({ oidc }: ProviderSettings): IdentityProvider[] {
  const client = clientOf(oidc)
  const { authorizationUrl, tokenUrl, userInfoUrl, name } = oidc
  if (!client || !authorizationUrl || !tokenUrl || !userInfoUrl) return []
  const scopes = ['openid', 'email', 'profile']
  return [{ id: 'oidc', name, ...client, authorizationUrl, tokenUrl, userInfoUrl, scopes }]
}

/** `company`: the providers of `IDENTITY_PROVIDERS`, of which some sign people in. */
export function buildIdentityProviders(
  given: ProviderSettings,
  company: readonly CompanyProvider[],
): IdentityProvider[] {
  const ofGoogle = clientOf(given.google)
  const ofGithub = clientOf(given.github)
  return [
    ...(ofGoogle ? [{ ...google, ...ofGoogle }] : []),
    ...(ofGithub ? [{ ...github, ...ofGithub }] : []),
    ...genericOf(given),
    ...company.flatMap(({ id, name, issuer, client }) =>
      client === undefined
        ? []
        : {
            id,
            name,
            issuer,
            clientId: client.id,
            clientSecret: client.secret,
            scopes: client.scopes,
          },
    ),
  ]
}
