/** X.509 certificates with P-256 keys. RFC 5280 */
import type { KeyObject } from 'node:crypto'
import { createHash, randomBytes, sign } from 'node:crypto'
import {
  derBits,
  encodeDer,
  derInteger,
  objectId,
  derOctets,
  derSequence,
  derSet,
  derTime,
  derUtf8,
  derTrue,
} from './der.ts'

const ecdsaWithSha256 = derSequence(objectId('1.2.840.10045.4.3.2'))

export type CertificateIssuer = { name: Buffer; keyId: Buffer; privateKey: KeyObject }

export type CertificateFields = {
  subject: Buffer
  publicKey: KeyObject
  notBeforeMs: number
  notAfterMs: number
  extensions: Buffer[]
}

/** Returns DER. */
export function buildCertificate(issuer: CertificateIssuer, wanted: CertificateFields): Buffer {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const signed = derSequence(
    encodeDer(0xa0, derInteger(Buffer.of(2))),
    derInteger(serial),
    ecdsaWithSha256,
    issuer.name,
    derSequence(derTime(wanted.notBeforeMs), derTime(wanted.notAfterMs)),
    wanted.subject,
    wanted.publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, derSequence(...wanted.extensions)),
  )
  return derSequence(signed, ecdsaWithSha256, derBits(sign('sha256', signed, issuer.privateKey)))
}

export const toPem = (certificateDer: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${certificateDer
    .toString('base64')
    .replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`

export const commonName = (text: string): Buffer =>
  derSequence(derSet(derSequence(objectId('2.5.4.3'), derUtf8(text))))

/** Hash of the public key's bits. RFC 5280 4.2.1.2, (1) */
export function keyIdOf(publicKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // The last 65 bytes are an uncompressed point of P-256.
  return createHash('sha1').update(spki.subarray(-65)).digest()
}

const extension = (id: string, isCritical: boolean, content: Buffer): Buffer =>
  derSequence(objectId(id), isCritical ? derTrue : Buffer.of(), derOctets(content))

export const subjectKeyId = (id: Buffer): Buffer => extension('2.5.29.14', false, derOctets(id))
export const authorityKeyId = (id: Buffer): Buffer =>
  extension('2.5.29.35', false, derSequence(encodeDer(0x80, id)))
/** An authority that may not sign other authorities. */
export const authorityOnly = extension(
  '2.5.29.19',
  true,
  derSequence(derTrue, derInteger(Buffer.of(0))),
)
export const notAnAuthority = extension('2.5.29.19', true, derSequence())
export const signsCertificates = extension('2.5.29.15', true, derBits(Buffer.of(0b0000_0110), 1))
export const signsHandshakes = extension('2.5.29.15', true, derBits(Buffer.of(0b1000_0000), 7))
export const forServers = extension('2.5.29.37', false, derSequence(objectId('1.3.6.1.5.5.7.3.1')))
export const hostNames = (host: string): Buffer =>
  extension('2.5.29.17', false, derSequence(encodeDer(0x82, Buffer.from(host))))
