/**
 * The keys by which agents prove who they are. They are derived from the root secret and the time, so that all
 * processes have the same, no private key is stored, and the next one is published long before it signs.
 */
import type { KeyObject } from 'node:crypto'
import { createHash, createHmac } from 'node:crypto'
import { dayMs } from '@steward/base/settings/kinds.ts'
import { deriveKeyPair } from '@steward/gate/authority.ts'

/** Each key signs for so long. The one before and the one after are published beside it. */
export const periodMs = 30 * dayMs

type PublicKey = {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  kid: string
  alg: 'ES256'
  use: 'sig'
}

type SigningKey = {
  kid: string
  /** SECRET: never logged. */
  privateKey: KeyObject
  shown: PublicKey
}

export type AgentIdentity = {
  /** `iss` of the tokens, without a slash at its end. */
  issuer: string
  signingKey: (now: number) => SigningKey
  /** The keys that a verifier may meet, with those of the root secret before. */
  published: (now: number) => PublicKey[]
}

function makeKey(root: Buffer, period: number): SigningKey {
  const seed = createHmac('sha256', root).update(`period ${period}`).digest()
  const { privateKey, publicKey } = deriveKeyPair(seed)
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  // RFC 7638: these members, in this order.
  const thumbprint = JSON.stringify({ crv: 'P-256', kty: 'EC', x, y })
  const kid = createHash('sha256').update(thumbprint).digest('base64url')
  return {
    kid,
    privateKey,
    shown: { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' },
  }
}

/** `roots`: the first signs; those of the root secret before are only published. */
export function agentIdentity(
  issuer: string,
  roots: readonly [Buffer, ...Buffer[]],
): AgentIdentity {
  const known = new Map<string, SigningKey>()
  const periodOf = (now: number) => Math.floor(now / periodMs)

  function keyOf(at: number, period: number): SigningKey {
    const name = `${at} ${period}`
    const found = known.get(name) ?? makeKey(roots[at] ?? roots[0], period)
    // Few are in use at a time: this process may live for years.
    if (!known.has(name) && known.size >= 16) known.clear()
    known.set(name, found)
    return found
  }

  return {
    issuer: issuer.replace(/\/+$/, ''),
    signingKey: (now) => keyOf(0, periodOf(now)),
    published(now) {
      const period = periodOf(now)
      return roots.flatMap((_root, at) =>
        [period - 1, period, period + 1].map((each) => keyOf(at, each).shown),
      )
    },
  }
}
