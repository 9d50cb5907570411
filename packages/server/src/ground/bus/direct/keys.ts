/**
 * Processes authenticate each other by TLS 1.3 under a key that all derive from the root secret, without certificates.
 * The key exchange is ephemeral, so that a recorded connection stays secret when the root secret leaks later.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ConnectionOptions, TlsOptions } from 'node:tls'
import { z } from 'zod'
import type { BusMessage } from '../bus.ts'
import { Addresses } from './frames.ts'

/** The key of this process, then keys that other processes may still have during a change of the root secret. */
export type PeerKeys = readonly [Buffer, ...Buffer[]]

const protocol = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
} as const

const identityOf = (key: Buffer): string =>
  createHash('sha256').update('identity').update(key).digest('hex').slice(0, 16)

export function listenerTls(keys: PeerKeys): TlsOptions {
  const known = new Map(keys.map((key) => [identityOf(key), key]))
  // Without a certificate, only a known key opens a connection.
  return { ...protocol, pskCallback: (_socket, identity) => known.get(identity) ?? null }
}

export function dialerTls([key]: PeerKeys): ConnectionOptions {
  const psk = { psk: key, identity: identityOf(key) }
  return {
    ...protocol,
    pskCallback: () => psk,
    // An attacker without the key could present a certificate: no authority is trusted, and no certificate is accepted.
    ca: [],
    // Otherwise an environment variable could turn the check off.
    rejectUnauthorized: true,
    checkServerIdentity: () => new Error('it showed a certificate and no key'),
  }
}

const Announcement = z.object({ process: z.string(), addresses: Addresses, mark: z.string() })
export type PeerAddress = Omit<z.infer<typeof Announcement>, 'mark'>

const markOf = ({ process, addresses }: PeerAddress, key: Buffer): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([process, addresses]))
    .digest()

/** The address of a process, as a message that only a holder of the key can write. */
export const signAnnouncement = (peer: PeerAddress, [key]: PeerKeys): BusMessage => ({
  ...peer,
  mark: markOf(peer, key).toString('base64url'),
})

/** Undefined for a message without a valid mark: the channel is open to everyone on the database. */
export function readAnnouncement(message: BusMessage, keys: PeerKeys): PeerAddress | undefined {
  const { data } = Announcement.safeParse(message)
  if (!data) return undefined
  const mark = Buffer.from(data.mark, 'base64url')
  const isOurs = keys.some((key) => {
    const expected = markOf(data, key)
    return mark.length === expected.length && timingSafeEqual(mark, expected)
  })
  return isOurs ? { process: data.process, addresses: data.addresses } : undefined
}
