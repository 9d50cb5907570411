/** Host names, and which of them may be reached. */
import { isIP } from 'node:net'
import type { RefusalReason } from './outbound.ts'

export type Host =
  /** Lower case, ASCII, without the final dot. */
  | { kind: 'name'; name: string }
  /** A bare address in any form that a resolver or a URL accepts. */
  | { kind: 'address'; address: string }

const label = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/

/** Undefined when the text is neither a name nor an address. IPv6 with or without brackets. */
export function readHost(text: string): Host | undefined {
  if (text.length > 1024) return undefined
  const inner = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (inner.includes(':')) {
    return isIP(inner) === 6 ? { kind: 'address', address: inner.toLowerCase() } : undefined
  }
  if (inner !== text || /[\p{Cc}\s%@/\\?#<>[\]^`{|}"]/u.test(text)) return undefined
  const ascii = asciiHost(text)
  if (isIP(ascii) === 4) return { kind: 'address', address: ascii }
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  const fits = name.split('.').every((part) => part.length <= 63 && label.test(part))
  return fits && name.length <= 253 ? { kind: 'name', name } : undefined
}

/**
 * The host as URLs normalize it: 0x7f.1, 0177.0.0.1 and 2130706433 are all 127.0.0.1. Empty for a host that no URL may
 * hold.
 */
const asciiHost = (text: string): string => URL.parse(`http://${text}/`)?.hostname ?? ''

/** The normal form of a name, for comparison; undefined for addresses and invalid names. */
export function normalHost(text: string): string | undefined {
  const host = readHost(text)
  return host?.kind === 'name' ? host.name : undefined
}

/**
 * A denied name stays denied. `*.suffix` covers subdomains at every depth and not the suffix itself. If `limited`, only
 * names of `allow` may be reached, otherwise all names that are not denied. Bare addresses may never be reached.
 */
export function hostPolicy({
  limited,
  allow,
  deny,
}: {
  limited: boolean
  allow: readonly string[]
  deny: readonly string[]
}): (host: string) => RefusalReason | undefined {
  const allowed = hostList(allow)
  const denied = hostList(deny)
  return (text) => {
    const host = readHost(text)
    if (host?.kind === 'address') return 'bare_address'
    if (!host) return 'not_allowed'
    if (denied(host.name)) return 'denied'
    return limited && !allowed(host.name) ? 'not_allowed' : undefined
  }
}

/** Entries that are no valid names match nothing. The returned function takes normal names. */
export function hostList(list: readonly string[]): (name: string) => boolean {
  const names = new Set<string>()
  const suffixes = new Set<string>()
  for (const entry of list) {
    const isSuffix = entry.startsWith('*.')
    const name = normalHost(isSuffix ? entry.slice(2) : entry)
    if (name !== undefined) (isSuffix ? suffixes : names).add(name)
  }
  return (name) => {
    if (names.has(name)) return true
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (suffixes.has(name.slice(dot + 1))) return true
    }
    return false
  }
}

/** Ports of other protocols, which an HTTP request could speak by accident. Fetch standard, "bad port" */
const badPorts = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 ' +
    '990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  )
    .split(' ')
    .map(Number),
)

export const isBadPort = (port: number): boolean =>
  !Number.isInteger(port) || port > 65_535 || port < 0 || badPorts.has(port)
