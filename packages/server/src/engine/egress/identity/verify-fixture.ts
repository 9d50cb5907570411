/** Verifies the token of an agent as a server does that knows only the address of the keys. */
import type { JWTPayload } from 'jose'
import { createRemoteJWKSet, jwtVerify } from 'jose'

export async function verifyAgentToken(
  token: string,
  { base, ...expected }: { base: string; issuer: string; audience: string; currentDate: Date },
): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`))
  return (await jwtVerify(token, keys, { ...expected, algorithms: ['ES256'] })).payload
}
