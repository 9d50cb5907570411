/** Checks a token of a company's identity provider: signature, issuer, audience and times. RFC 7519, RFC 8725 */
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { CompanyProvider } from '../../../ground/config/company-providers.ts'
import { PlatformError, unauthorized } from '../../../ground/core/errors.ts'
import type { Log } from '@steward/base/log.ts'
import { askProvider, ProviderRefusal } from './ask-provider.ts'
import type { Claims } from './claims.ts'
import type { ProviderKeys } from './provider-keys.ts'

/** Difference of the clocks of a provider and this server. */
const toleranceSeconds = 30

/** Imported with the first token: a server without such callers does not hold the library. */
const library = runOnce(() => import('jose'))

const shape = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The issuer that a text names, if it has the form of a token. Nothing is proved by it. */
export function issuerOf(token: string): string | undefined {
  if (!token.startsWith('ey') || !shape.test(token)) return undefined
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
    const claims: unknown = JSON.parse(text)
    const isNamed = typeof claims === 'object' && claims !== null && 'iss' in claims
    return isNamed && typeof claims.iss === 'string' ? claims.iss : undefined
  } catch {
    return undefined
  }
}

/** Types of tokens that say who somebody is. A token of another type, such as one of a logout, is refused. */
const types = [undefined, 'jwt', 'at+jwt', 'application/at+jwt']

const reasons: Record<string, string> = {
  ERR_JWT_EXPIRED: 'the token has expired, or is older than token_minutes: get a new one',
  ERR_JOSE_ALG_NOT_ALLOWED: 'the token is signed by an algorithm that its provider may not use',
  ERR_JOSE_NOT_SUPPORTED: 'the token is signed in a way that is not known here',
  ERR_JWKS_NO_MATCHING_KEY: 'the token is signed by a key that its provider does not have',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'the token does not say which key of its provider has signed it',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'the signature of the token is wrong',
}

const claimReasons: Record<string, string> = {
  aud: 'the token is for another audience than the settings of its provider name',
  iss: 'the token is of another issuer',
  nbf: 'the token does not count yet',
  iat: 'the token was issued in the future: one of the two clocks is wrong',
}

/** The refusal of a token. Undefined: the error is none of the token. */
function refusalOf(error: unknown): PlatformError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  const claim = 'claim' in error ? String(error.claim) : ''
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED')
    return unauthorized(claimReasons[claim] ?? `the token lacks the claim ${claim}`)
  if (reasons[code]) return unauthorized(reasons[code])
  return code.startsWith('ERR_J') ? unauthorized('the token is not well formed') : undefined
}

/** The provider does not answer. Its callers come again, and nobody is told that a good token is bad. */
export const providerAway = ({ name }: CompanyProvider) =>
  new PlatformError(
    'unavailable',
    `the identity provider ${name} does not answer as it should, so that the token cannot be checked: try again in a moment`,
  )

export type TokenChecks = {
  keys: ProviderKeys
  clock: Clock
  log: Log
  /** Who must be named, in place of the provider's `audience`. */
  audiences?: readonly string[]
}

async function verifySignature(
  provider: CompanyProvider,
  token: string,
  { keys, clock, audiences = provider.audiences }: TokenChecks,
): Promise<JWTPayload> {
  const { createLocalJWKSet, errors, jwtVerify } = await library()
  const findKey: JWTVerifyGetKey = async (header, jws) => {
    try {
      return await createLocalJWKSet(await keys.keys())(header, jws)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await keys.newerKeys()
      if (!newer) throw error
      return createLocalJWKSet(newer)(header, jws)
    }
  }
  const { payload, protectedHeader } = await jwtVerify(token, findKey, {
    issuer: provider.issuer,
    audience: [...audiences],
    algorithms: [...provider.algorithms],
    clockTolerance: toleranceSeconds,
    maxTokenAge: provider.tokenMs / 1_000,
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp', 'iat'],
  })
  if (!types.includes(protectedHeader.typ?.toLowerCase()))
    throw unauthorized('the token is of a type that says nothing about its holder')
  return payload
}

const proved = ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf']

/** Adds what the provider says at this moment to what the token said when it was made. */
export async function withUserinfo(
  { keys }: Pick<TokenChecks, 'keys'>,
  token: string,
  claims: Claims,
): Promise<Claims> {
  const { userinfo_endpoint: url } = await keys.discovery()
  if (url === undefined) throw new Error('the provider has no userinfo_endpoint')
  const said = await askProvider(url, { headers: { authorization: `Bearer ${token}` } })
  const all = new Map(Object.entries(typeof said === 'object' && said !== null ? said : {}))
  // Attack: an answer about somebody else. OpenID Connect Core 5.3.2
  if (all.get('sub') !== claims['sub'])
    throw unauthorized('the provider says that the token is of another')
  for (const name of proved) if (claims[name] !== undefined) all.set(name, claims[name])
  return { ...claims, ...Object.fromEntries(all) }
}

/** The claims of the token. Throws `unauthorized` for a token that is refused, `unavailable` when it cannot be checked. */
export async function verifyToken(
  provider: CompanyProvider,
  token: string,
  checks: TokenChecks,
): Promise<Claims & { exp: number; iat: number }> {
  try {
    const claims = await verifySignature(provider, token, checks)
    const { exp = 0, iat = 0 } = claims
    const whole = provider.asksUserinfo ? await withUserinfo(checks, token, claims) : claims
    return { ...whole, exp, iat }
  } catch (error) {
    if (error instanceof PlatformError) throw error
    const refusal =
      error instanceof ProviderRefusal && provider.asksUserinfo && [401, 403].includes(error.status)
        ? unauthorized('the provider takes the token no longer: get a new one')
        : refusalOf(error)
    if (refusal) throw refusal
    checks.log.warn('an identity provider could not be asked', { provider: provider.id, error })
    throw providerAway(provider)
  }
}
