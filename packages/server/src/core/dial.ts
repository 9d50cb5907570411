/**
 * The guarded dialler for everything a tenant names: no private, loopback, link-local or metadata address is
 * dialled unless the operator allows its range. Names are judged by what they resolve to, in the look-up that the
 * connection uses, so that there is no second answer to swap in.
 */
import { lookup } from 'node:dns'
import type { LookupOptions } from 'node:dns'
import type { Socket } from 'node:net'
import { BlockList, connect as dial, isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'

/** Reserved, local, shared and metadata ranges, and IPv6 that wraps IPv4. RFC 6890, RFC 4193, RFC 4291, RFC 9637 */
const refused: [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

/** The dial was refused before any packet left. */
export class RefusedAddress extends Error {
  readonly code = 'EREFUSEDADDRESS'
  constructor(host: string, address: string) {
    super(
      host === address
        ? `${host} is a private or reserved address, which this server does not dial`
        : `${host} resolves to ${address}, a private or reserved address, which this server does not dial`,
    )
  }
}

/** `a.b.c.d/n`, `x::/n` or a bare address. Throws on anything else. */
export function parseRanges(text: string): BlockList {
  const ranges = new BlockList()
  for (const part of text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)) {
    const [, address = '', bits] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(part) ?? []
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    const prefix = bits === undefined ? most : Number(bits)
    if (family === 0 || prefix > most) {
      throw new Error(`${part} is not an address range such as 127.0.0.0/8`)
    }
    ranges.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4')
  }
  return ranges
}

export function addressGuard(allowed: BlockList): (address: string) => boolean {
  const blocked = new BlockList()
  for (const [address, bits, family] of refused) blocked.addSubnet(address, bits, family)
  // A list judges IPv4 in IPv6 clothes (::ffff:0:0/96) by its IPv4 ranges.
  return (address) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    return allowed.check(address, family) || !blocked.check(address, family)
  }
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | { address: string; family: number }[],
  family?: number,
) => void

type Lookup = (host: string, options: LookupOptions, found: Found) => void

const guardedLookup =
  (may: (address: string) => boolean): Lookup =>
  (host, options, found) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return found(error, [])
      const bad = addresses.find(({ address }) => !may(address))
      if (bad) return found(new RefusedAddress(host, bad.address), [])
      if (options.all) return found(null, addresses)
      const [first] = addresses
      found(null, first?.address ?? '', first?.family)
    })
  }

/** A literal address never reaches a look-up. */
function refusedLiteral(may: (address: string) => boolean, hostname: string) {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && !may(host) ? new RefusedAddress(host, host) : undefined
}

/** For undici: connects, by TLS where the URL says so, and refuses at the dial. */
export function guardedConnector(
  may: (address: string) => boolean,
  options: { allowH2?: boolean } = {},
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(may) })
  return (options, callback) => {
    const refusal = refusedLiteral(may, options.hostname)
    if (refusal) return callback(refusal, null)
    connect(options, callback)
  }
}

/** An undici dispatcher that refuses at the dial; as the global one it is under the runtime's own fetch too. */
export const guardedAgent = (may: (address: string) => boolean): Agent =>
  new Agent({ connect: guardedConnector(may), keepAliveTimeout: 30_000 })

/** A connected socket, without TLS. Rejects with `RefusedAddress`, or as the dial fails. */
export function guardedDial(
  may: (address: string) => boolean,
  { host, port, timeoutMs = 10_000 }: { host: string; port: number; timeoutMs?: number },
): Promise<Socket> {
  const refusal = refusedLiteral(may, host)
  if (refusal) return Promise.reject(refusal)
  return new Promise((resolve, reject) => {
    const socket = dial({ host, port, lookup: guardedLookup(may), allowHalfOpen: true })
    const late = setTimeout(
      () => socket.destroy(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    socket.setNoDelay(true)
    socket.once('error', reject)
    socket.once('close', () => clearTimeout(late))
    socket.once('connect', () => {
      clearTimeout(late)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
