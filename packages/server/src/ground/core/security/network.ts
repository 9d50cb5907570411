import { isIPv6 } from 'node:net'

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))

/**
 * The addresses of one subscriber: one IPv4 address, also in its IPv6-mapped form, or the /64 network of an IPv6
 * address. Any other text stays as it is.
 */
export function networkOf(address: string): string {
  return prefixOf(address, 4)
}

/** The /48 network of an IPv6 address, which one customer of a provider may own; undefined for any other text. */
export function wideNetworkOf(address: string): string | undefined {
  const network = prefixOf(address, 3)
  return network.endsWith('::/48') ? network : undefined
}

/** `count`: how many groups of an IPv6 address the network has. */
function prefixOf(address: string, count: number): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('::')
  const [before, behind] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: Math.max(8 - before.length - behind.length, 0) }, () => '0')
  const groups = [...before, ...zeros, ...behind].slice(0, count)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${count * 16}`
}
