/** Settings of sign-in: cookies, mail, identity providers. */
import { companyProvidersSchema, parseCompanyProviders } from '../company-providers.ts'
import { oauthClientsSchema, parseOAuthClients } from '../oauth-clients.ts'
import { choice, httpUrl, textMatching, smtpUrl, text } from '@steward/base/settings/kinds.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'

const cookies = settingsSection('Sign-in', {
  sessionSecret: setting(
    'SESSION_SIGNING_SECRET',
    textMatching('16 or more characters', /^.{16,}$/s),
    {
      secret: true,
      defaultAbout: 'a key derived from the root secret',
      about: 'signs session cookies; another value signs everybody out',
    },
  ),
  mail: {
    smtpUrl: setting('SMTP_URL', smtpUrl, {
      secret: true,
      about:
        'mail server that sends emails with codes, links and invitations, such as `smtps://user:password@mail.example.com`; without it the server writes emails to its log',
    }),
    from: setting('MAIL_FROM', text, {
      defaultAbout: 'the user of `SMTP_URL`',
      about: 'sender of emails, such as `Steward <steward@example.com>`',
    }),
  },
})

const oauth = settingsSection('OAuth logins', {
  oauthClients: setting(
    'OAUTH_CLIENTS',
    {
      form: 'a JSON object',
      parse: parseOAuthClients,
      inFile: { type: 'json', schema: oauthClientsSchema },
    },
    {
      default: '{}',
      example:
        "{ my-tool: { name: My tool, redirect_uris: ['https://tool.example.com/callback'] } }",
      about: 'further clients that may ask people to log in, by client id, as JSON',
      more: 'See [Other clients](login.md#other-clients)',
    },
  ),
})

const clientOf = (prefix: string, name: string) => ({
  clientId: setting(`${prefix}_CLIENT_ID`, text, {
    about: `client id of this service at ${name}; people then sign in there too (SSO)`,
    more: 'Needs the secret and `PUBLIC_URL`. See [People](workspaces.md#people)',
  }),
  clientSecret: setting(`${prefix}_CLIENT_SECRET`, text, {
    secret: true,
    about: `client secret of this service at ${name}`,
  }),
})

const urlOf = (name: string, about: string) => setting(name, httpUrl, { about })

export const signInProviders = settingsSection('Identity providers', {
  identityProviders: {
    google: clientOf('SIGN_IN_GOOGLE', 'Google'),
    github: clientOf('SIGN_IN_GITHUB', 'GitHub'),
    oidc: {
      ...clientOf('SIGN_IN_OIDC', 'a provider of your own, by OpenID Connect'),
      name: setting('SIGN_IN_OIDC_NAME', text, {
        default: 'single sign-on',
        about: 'name of that provider on the sign-in page',
      }),
      authorizationUrl: urlOf('SIGN_IN_OIDC_AUTHORIZE_URL', 'where that provider asks people'),
      tokenUrl: urlOf('SIGN_IN_OIDC_TOKEN_URL', 'where that provider exchanges codes for tokens'),
      userInfoUrl: urlOf('SIGN_IN_OIDC_USERINFO_URL', 'where that provider says who a person is'),
    },
  },
})

const company = settingsSection('Identities of a company', {
  companyProviders: setting(
    'IDENTITY_PROVIDERS',
    {
      form: 'a JSON object',
      parse: parseCompanyProviders,
      inFile: { type: 'json', schema: companyProvidersSchema },
    },
    {
      secret: true,
      defaultAbout: 'none',
      about:
        "the company's identity providers by OpenID Connect, and which of their groups and services reach which workspace, as JSON",
      more: 'See [Connect your company](company-identity.md)',
    },
  ),
})

const ways = settingsSection('Sign-in', {
  signInOnly: setting('SIGN_IN_ONLY', choice(['provider']), {
    defaultAbout: 'passwords, codes and identity providers',
    about: '`provider`: people sign in by identity providers alone, not by password or code',
    more: 'See [Provider alone](company-identity.md#provider-alone)',
  }),
})

export const signInSettings = { ...cookies, ...ways, ...oauth, ...signInProviders, ...company }
