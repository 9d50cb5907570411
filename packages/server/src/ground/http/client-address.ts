/** The client's address behind proxies, and the count of refused credentials from an address. */
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { isIP } from 'node:net'
import { PlatformError } from '../core/errors.ts'
import type { Header } from './caller.ts'

export type AddressDeps = {
  /** Proxies that are trusted to name the client's address. */
  proxies?: BlockList
  /** Counts a refused credential. Rejects when there were too many from the address. */
  countFailure?: (address: string) => Promise<void>
}

/** The address without brackets, port and the IPv6 form of IPv4. Undefined for a text that is no address. */
function plainAddress(text: string): string | undefined {
  const [, bracketed, v4] = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(text) ?? []
  const address = bracketed ?? v4 ?? text
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address
  return isIP(mapped) === 0 ? undefined : mapped
}

/**
 * The rightmost address that is not a trusted proxy's. Each proxy appends its own client at the right; entries further
 * left may be forged. An entry that is no address ends the search.
 */
export function clientAddress(
  {
    socket,
    headers,
  }: Pick<IncomingMessage, 'headers'> & {
    socket: Pick<IncomingMessage['socket'], 'remoteAddress'>
  },
  { proxies }: AddressDeps,
): string {
  const peer = socket.remoteAddress ?? ''
  const named = headers['x-forwarded-for']
  if (!proxies || named === undefined) return peer
  let client = plainAddress(peer) ?? peer
  const hops = String(named).split(',')
  while (isWithin(proxies, client)) {
    const next = plainAddress((hops.pop() ?? '').trim())
    if (next === undefined) break
    client = next
  }
  return client
}

const isWithin = (ranges: BlockList, address: string): boolean =>
  isIP(address) !== 0 && ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/**
 * Counts only refused credentials, after the look-up, so that a valid key is never refused because of others behind its
 * address. Requests without a credential guess nothing and are not counted.
 */
export async function countFailures<T>(
  calling: Promise<T>,
  { header, address, countFailure }: AddressDeps & { header: Header; address: string },
): Promise<T> {
  try {
    return await calling
  } catch (error) {
    const isRefused = error instanceof PlatformError && error.kind === 'unauthorized'
    const hasCredential = header('authorization') || header('x-api-key') || header('cookie')
    if (isRefused && hasCredential) await countFailure?.(address)
    throw error
  }
}
