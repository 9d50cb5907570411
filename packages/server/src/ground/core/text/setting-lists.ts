/** Parsers of settings that are lists separated by commas. Each returns undefined for a part of another form. */
import { splitList } from '@steward/base/settings/kinds.ts'
import { normalHost } from '@steward/gate/policy.ts'
import type { PackageManager } from '@steward/protocol/packages.ts'
import { packageManagers } from '@steward/protocol/packages.ts'

/** The URL of a package registry by package manager. */
export type PackageSources = Partial<Record<PackageManager, string>>

export function parseRootFolders(text: string): Map<string, string> | undefined {
  const pairs = splitList(text).map((each) => /^([a-z0-9][\w.:-]*)=(\/.+)$/.exec(each))
  const found = pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', pair[2] ?? ''] as const] : []))
  return found.length === pairs.length ? new Map(found) : undefined
}

export function parsePackageSources(text: string): PackageSources | undefined {
  const sources: PackageSources = {}
  for (const each of splitList(text)) {
    const at = each.indexOf('=')
    const manager = packageManagers.find((name) => name === each.slice(0, at))
    const url = URL.parse(each.slice(at + 1))
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
    if (!manager || !isPlain || !normalHost(url.hostname)) return undefined
    sources[manager] = url.href
  }
  return sources
}

/** Parses host names. `*.suffix` stands for every name below `suffix`. */
export function parseHostNames(text: string): string[] | undefined {
  const names = splitList(text)
  return names.every((name) => normalHost(name.replace(/^\*\./, ''))) ? names : undefined
}
