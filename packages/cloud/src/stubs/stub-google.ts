/** For tests: Google's token endpoints and the metadata address of its machines. */
import { generateKeyPairSync, verify } from 'node:crypto'
import type { GoogleOwn } from '../credentials.ts'
import type { CloudRoute } from './stub-server.ts'
import { json } from './stub-server.ts'

export function googleRoutes({ lifetime = 3_600 } = {}): {
  routes: CloudRoute[]
  key: GoogleOwn
  /** Tokens that were given out and are valid. */
  tokens: Set<string>
} {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key: GoogleOwn = {
    type: 'service_account',
    client_email: 'models@stub-project.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    private_key_id: 'stub-key',
  }
  const tokens = new Set<string>()
  const newToken = (): { access_token: string; expires_in: number; token_type: string } => {
    const access_token = `ya29.stub-token-${tokens.size + 1}`
    tokens.add(access_token)
    return { access_token, expires_in: lifetime, token_type: 'Bearer' }
  }

  const oauth: CloudRoute = ({ host, path, form }) => {
    if (host !== 'oauth2.googleapis.com' || path !== '/token') return undefined
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      publicKey,
      Buffer.from(signature, 'base64url'),
    )
    const { iss, aud, scope } = readPart(claims)
    const isGranted = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    if (!isSigned || iss !== key.client_email || !isGranted || scope === undefined)
      return json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400)
    if (aud !== 'https://oauth2.googleapis.com/token')
      return json({ error: 'invalid_grant', error_description: 'Invalid JWT audience.' }, 400)
    return json(newToken())
  }

  const metadata: CloudRoute = ({ path, headers }) => {
    if (!path.startsWith('/computeMetadata/v1/instance/service-accounts/default/token'))
      return undefined
    return headers['metadata-flavor'] === 'Google'
      ? json(newToken(), 200, { 'metadata-flavor': 'Google' })
      : { status: 403, body: 'Missing Metadata-Flavor:Google header.' }
  }

  /** Workload identity federation: a token of elsewhere becomes one of Google. */
  const federation: CloudRoute = ({ host, path, form }) => {
    if (host !== 'sts.googleapis.com' || path !== '/v1/token') return undefined
    return form.get('subject_token') === federatedToken
      ? json({
          ...newToken(),
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        })
      : json({ error: 'invalid_grant', error_description: 'The token is not of this pool.' }, 400)
  }
  return { routes: [oauth, metadata, federation], key, tokens }
}

export const federatedToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJwb2QifQ.Z29vZ2xl'

const readPart = (part: string): Record<string, unknown> =>
  part === ''
    ? {}
    : (JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>)
