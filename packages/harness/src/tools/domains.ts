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

type DomainEntry = { host: string; path: string }

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
