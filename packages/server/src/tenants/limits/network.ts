import { isIPv6 } from 'node:net'

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))

/**
 * The addresses of one subscriber: one IPv4 address, also in its IPv6-mapped form, or the /64 network of an IPv6
 * address. Any other text stays as it is.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('::')
  const [before, behind] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: Math.max(8 - before.length - behind.length, 0) }, () => '0')
  const groups = [...before, ...zeros, ...behind].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
