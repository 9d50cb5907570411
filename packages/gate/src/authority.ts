/**
 * The certificate authority that sandboxes trust, and the certificates that it issues. Its keys never leave this
 * process's memory.
 */
import type { KeyObject } from 'node:crypto'
import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import {
  authorityKeyId,
  authorityOnly,
  buildCertificate,
  commonName,
  forServers,
  hostNames,
  keyIdOf,
  notAnAuthority,
  toPem,
  signsCertificates,
  signsHandshakes,
  subjectKeyId,
} from './certificate.ts'

const dayMs = 86_400_000
/** Tolerance for clocks that run late. */
const skewMs = dayMs
const authorityMs = 10 * 365 * dayMs
const leafMs = 14 * dayMs

export interface Authority {
  /** PEM certificate that a sandbox must trust. */
  readonly pem: string
  /**
   * The TLS context of a host, given as a normal name. The first call takes about a millisecond. The contexts used last
   * are cached.
   */
  contextFor(host: string): SecureContext
}

/**
 * One authority for each process. Authorities with the same `seed` (32 bytes) are the same to clients. `contexts`: size
 * of the cache; a context takes 60 KB.
 */
export function certificateAuthority({
  contexts = 256,
  now = Date.now,
  seed,
}: { contexts?: number; now?: () => number; seed?: Buffer } = {}): Authority {
  const own = seed ? deriveKeyPair(seed) : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leafKey = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const leafKeyId = keyIdOf(leaf.publicKey)
  const keyId = keyIdOf(own.publicKey)
  const name = commonName(`Steward sandbox authority ${keyId.toString('hex', 0, 4)}`)
  const issuer = { name, keyId, privateKey: own.privateKey }
  const pem = toPem(
    buildCertificate(issuer, {
      subject: name,
      publicKey: own.publicKey,
      notBeforeMs: now() - skewMs,
      notAfterMs: now() + authorityMs,
      extensions: [authorityOnly, signsCertificates, subjectKeyId(issuer.keyId)],
    }),
  )
  /** Ordered by last use, the newest last. */
  const kept = new Map<string, { context: SecureContext; untilMs: number }>()

  function make(host: string): SecureContext {
    const cert = toPem(
      buildCertificate(issuer, {
        // A common name has at most 64 characters. Clients use the alternative name.
        subject: commonName(host.length <= 64 ? host : 'sandbox'),
        publicKey: leaf.publicKey,
        notBeforeMs: now() - skewMs,
        notAfterMs: now() + leafMs,
        extensions: [
          notAnAuthority,
          signsHandshakes,
          forServers,
          hostNames(host),
          subjectKeyId(leafKeyId),
          authorityKeyId(issuer.keyId),
        ],
      }),
    )
    // `ca` keeps each context from loading the public roots, which it does not need.
    return createSecureContext({ cert, key: leafKey, ca: pem, minVersion: 'TLSv1.2' })
  }

  return {
    pem,
    contextFor(host) {
      const found = kept.get(host)
      kept.delete(host)
      const isGood = found && found.untilMs > now()
      const entry = isGood ? found : { context: make(host), untilMs: now() + leafMs / 2 }
      kept.set(host, entry)
      const [oldest] = kept.keys()
      if (kept.size > contexts && oldest !== undefined) kept.delete(oldest)
      return entry.context
    },
  }
}

/** The order of P-256's group. Private keys are the numbers below it, except 0. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The same key pair on P-256 for the same seed of 32 bytes. */
export function deriveKeyPair(seed: Buffer): { privateKey: KeyObject; publicKey: KeyObject } {
  const number = (BigInt(`0x${seed.toString('hex')}`) % (order - 1n)) + 1n
  const d = Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(d)
  const point = curve.getPublicKey()
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((at) => at.toString('base64url'))
  const jwk = { kty: 'EC', crv: 'P-256', d: d.toString('base64url'), x, y }
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
