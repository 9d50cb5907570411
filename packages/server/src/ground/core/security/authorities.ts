/** Certificates of the operator's own authorities, which every TLS connection of this process trusts besides the public ones. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

const certificates = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The certificates of a PEM file. The error says what is wrong with the file. */
export function readAuthorities(path: string): string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`${path} cannot be read (${code}): name a PEM file of certificates`, {
      cause: error,
    })
  }
  const found = text.match(certificates) ?? []
  if (found.length === 0) throw new Error(`${path} holds no certificate in PEM`)
  try {
    return found.map((pem) => new X509Certificate(pem).toString())
  } catch (cause) {
    throw new Error(`${path} holds a certificate that cannot be read`, { cause })
  }
}

/** Holds for every connection that is opened later. Node itself trusts those that the variable names. */
export function trustAuthorities(authorities: readonly string[] = []): void {
  if (authorities.length === 0) return
  const known = getCACertificates('default')
  const trimmed = new Set(known.map((pem) => pem.trim()))
  const added = authorities.filter((pem) => !trimmed.has(pem.trim()))
  if (added.length > 0) setDefaultCACertificates([...known, ...added])
}
