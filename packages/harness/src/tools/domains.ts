/** Domain lists of the web tools. [tools/web/lists] */

export type DomainLists = {
  allowed_domains?: readonly string[] | null | undefined
  blocked_domains?: readonly string[] | null | undefined
}

/** A listed host covers its subdomains. An entry with a path covers only URLs below that path. */
export function domainRule({
  allowed_domains,
  blocked_domains,
}: DomainLists): (url: URL) => boolean {
  const allowed = allowed_domains?.map(entryOf)
  const blocked = blocked_domains?.map(entryOf) ?? []
  return (url) =>
    (allowed === undefined || allowed.some((entry) => covers(entry, url))) &&
    !blocked.some((entry) => covers(entry, url))
}

/** The domains that both lists cover. Null is a list that covers every domain, and an empty one covers none. */
export function commonDomains(
  one: readonly string[] | null | undefined,
  other: readonly string[] | null | undefined,
): string[] | null {
  const alone = one ?? other
  if (!one || !other) return alone ? [...alone] : null
  const entries = other.map(entryOf)
  const common = one.flatMap((text) => entries.flatMap((entry) => overlapOf(entryOf(text), entry)))
  return [...new Set(common)]
}

type DomainEntry = { host: string; path: string }

/** What two entries both cover: the narrower host with the narrower path, or nothing. */
function overlapOf(one: DomainEntry, other: DomainEntry): string[] {
  const host = narrower(one.host, other.host, (inner, outer) => inner.endsWith(`.${outer}`))
  const path = narrower(one.path, other.path, (inner, outer) => inner.startsWith(`${outer}/`))
  if (host === undefined || path === undefined) return []
  return [path === '' ? host : `${host}/${path}`]
}

function narrower(
  one: string,
  other: string,
  isBelow: (inner: string, outer: string) => boolean,
): string | undefined {
  if (one === other || other === '' || isBelow(one, other)) return one
  return one === '' || isBelow(other, one) ? other : undefined
}

function entryOf(given: string): DomainEntry {
  const [host = '', ...path] = given.toLowerCase().replace(/\/$/, '').split('/')
  return { host, path: path.join('/') }
}

function covers({ host, path }: DomainEntry, url: URL): boolean {
  const name = url.hostname.toLowerCase().replace(/\.$/, '')
  if (name !== host && !name.endsWith(`.${host}`)) return false
  const at = url.pathname.toLowerCase().slice(1)
  return path === '' || at === path || at.startsWith(`${path}/`)
}
