/** For tests: Microsoft's token endpoint, and the metadata address of its machines. */
import type { AzureOwn } from '../credentials.ts'
import type { CloudRoute } from './stub-server.ts'
import { json } from './stub-server.ts'

export const azureClient: AzureOwn = {
  type: 'client_secret',
  tenant_id: '11111111-2222-3333-4444-555555555555',
  client_id: '66666666-7777-8888-9999-000000000000',
  client_secret: 'stub~secret.of.the.client',
}
export const azureFederatedToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJwb2QifQ.YXp1cmU'

export function azureRoutes({ lifetime = 3_600 } = {}): {
  routes: CloudRoute[]
  tokens: Set<string>
} {
  const tokens = new Set<string>()
  const newToken = () => {
    const access_token = `stub-token-of-entra-${tokens.size + 1}`
    tokens.add(access_token)
    return access_token
  }
  const { tenant_id: tenant } = azureClient

  const authority: CloudRoute = ({ host, path, form }) => {
    if (host !== 'login.microsoftonline.com') return undefined
    const base = `https://${host}/${tenant}`
    if (path.startsWith(`/${tenant}/v2.0/.well-known/openid-configuration`))
      return json({
        issuer: `${base}/v2.0`,
        authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
        token_endpoint: `${base}/oauth2/v2.0/token`,
        jwks_uri: `${base}/discovery/v2.0/keys`,
      })
    if (!path.startsWith(`/${tenant}/oauth2/v2.0/token`)) return undefined
    const isClient = form.get('client_id') === azureClient.client_id
    const hasSecret = form.get('client_secret') === azureClient.client_secret
    const hasAssertion = form.get('client_assertion') === azureFederatedToken
    if (!isClient || !(hasSecret || hasAssertion) || !form.get('scope')?.includes('/.default'))
      return json(
        {
          error: 'invalid_client',
          error_description: 'AADSTS7000215: Invalid client secret provided.',
          error_codes: [7_000_215],
        },
        401,
      )
    return json({
      token_type: 'Bearer',
      expires_in: lifetime,
      ext_expires_in: lifetime,
      access_token: newToken(),
    })
  }

  const machine: CloudRoute = ({ path, headers }) => {
    if (!path.startsWith('/metadata/identity/oauth2/token')) return undefined
    if (headers.metadata !== 'true') return json({ error: 'invalid_request' }, 400)
    const { searchParams } = new URL(path, 'http://stub')
    if (searchParams.get('client_id') === 'unknown')
      return json({ error: 'invalid_request', error_description: 'Identity not found' }, 400)
    const resource = searchParams.get('resource')
    return json({
      access_token: newToken(),
      expires_on: String(Math.floor(Date.now() / 1_000) + lifetime),
      resource,
      token_type: 'Bearer',
    })
  }
  return { routes: [authority, machine], tokens }
}
