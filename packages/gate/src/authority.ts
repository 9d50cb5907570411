/** The authority that sandboxes trust, and the certificates it makes. Its keys never leave this process's memory. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import {
  authorityKeyId,
  authorityOnly,
  certificate,
  commonName,
  forServers,
  hostNames,
  keyIdOf,
  notAnAuthority,
  pemOf,
  signsCertificates,
  signsHandshakes,
  subjectKeyId,
} from './certificate.ts'

const dayMs = 86_400_000
/** For clocks that are late. */
const skewMs = dayMs
const authorityMs = 10 * 365 * dayMs
const leafMs = 14 * dayMs

export interface Authority {
  /** What a sandbox has to trust. */
  readonly pem: string
  /** For a normal name. Made at the first call, about a millisecond, and kept while it is among the last in use. */
  contextFor(host: string): SecureContext
}

/** One for each process. `contexts`: how many are kept, of 60 KB each. */
export function certificateAuthority({
  contexts = 256,
  now = Date.now,
}: { contexts?: number; now?: () => number } = {}): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leafKey = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const leafKeyId = keyIdOf(leaf.publicKey)
  const name = commonName(`Steward sandbox authority ${randomBytes(4).toString('hex')}`)
  const issuer = { name, keyId: keyIdOf(own.publicKey), privateKey: own.privateKey }
  const pem = pemOf(
    certificate(issuer, {
      subject: name,
      publicKey: own.publicKey,
      notBeforeMs: now() - skewMs,
      notAfterMs: now() + authorityMs,
      extensions: [authorityOnly, signsCertificates, subjectKeyId(issuer.keyId)],
    }),
  )
  /** The last used is the last. */
  const kept = new Map<string, { context: SecureContext; untilMs: number }>()

  function make(host: string): SecureContext {
    const cert = pemOf(
      certificate(issuer, {
        // A common name has 64 characters at most; clients go by the alternative name.
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
    // `ca` spares each context the public roots, which serve no purpose here.
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
