/** X.509 certificates with P-256 keys. RFC 5280 */
import type { KeyObject } from 'node:crypto'
import { createHash, randomBytes, sign } from 'node:crypto'
import { bits, der, integer, objectId, octets, sequence, setOf, time, utf8, yes } from './der.ts'

const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))

export type CertificateIssuer = { name: Buffer; keyId: Buffer; privateKey: KeyObject }

export type CertificateFields = {
  subject: Buffer
  publicKey: KeyObject
  notBeforeMs: number
  notAfterMs: number
  extensions: Buffer[]
}

/** Returns DER. */
export function certificate(issuer: CertificateIssuer, wanted: CertificateFields): Buffer {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const signed = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(serial),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(wanted.notBeforeMs), time(wanted.notAfterMs)),
    wanted.subject,
    wanted.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...wanted.extensions)),
  )
  return sequence(signed, ecdsaWithSha256, bits(sign('sha256', signed, issuer.privateKey)))
}

export const pemOf = (certificateDer: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${certificateDer
    .toString('base64')
    .replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`

export const commonName = (text: string): Buffer =>
  sequence(setOf(sequence(objectId('2.5.4.3'), utf8(text))))

/** Hash of the public key's bits. RFC 5280 4.2.1.2, (1) */
export function keyIdOf(publicKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // The last 65 bytes are an uncompressed point of P-256.
  return createHash('sha1').update(spki.subarray(-65)).digest()
}

const extension = (id: string, isCritical: boolean, content: Buffer): Buffer =>
  sequence(objectId(id), isCritical ? yes : Buffer.of(), octets(content))

export const subjectKeyId = (id: Buffer): Buffer => extension('2.5.29.14', false, octets(id))
export const authorityKeyId = (id: Buffer): Buffer =>
  extension('2.5.29.35', false, sequence(der(0x80, id)))
/** An authority that may not sign other authorities. */
export const authorityOnly = extension('2.5.29.19', true, sequence(yes, integer(Buffer.of(0))))
export const notAnAuthority = extension('2.5.29.19', true, sequence())
export const signsCertificates = extension('2.5.29.15', true, bits(Buffer.of(0b0000_0110), 1))
export const signsHandshakes = extension('2.5.29.15', true, bits(Buffer.of(0b1000_0000), 7))
export const forServers = extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1')))
export const hostNames = (host: string): Buffer =>
  extension('2.5.29.17', false, sequence(der(0x82, Buffer.from(host))))
