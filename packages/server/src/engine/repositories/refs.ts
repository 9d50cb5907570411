/** What a server says a repository has. gitprotocol-http(5), gitprotocol-pack(5) */
import { packets } from './packets.ts'

export type Refs = {
  /** Of branches and tags, by their full names. */
  ids: ReadonlyMap<string, string>
  /** The branch that is checked out when nothing else is asked for; undefined when the repository has none. */
  main: string | undefined
  capabilities: ReadonlySet<string>
}

/** What git takes for the name of a branch or tag; others are left out. git-check-ref-format(1) */
export const isRefName = (name: string): boolean =>
  /^refs\/(?:heads|tags)\/[^\0-\x20\x7f~^:?*[\\]+$/.test(name) &&
  !/\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(name)

/** Throws on anything else. */
export async function readRefs(body: AsyncIterable<Buffer>): Promise<Refs> {
  const ids = new Map<string, string>()
  const capabilities = new Set<string>()
  let head: string | undefined
  for await (const bytes of packets(body)) {
    const [line = '', words = ''] = (bytes?.toString('utf8') ?? '').replace(/\n$/, '').split('\0')
    if (line.startsWith('ERR ')) throw new Error(line.slice(4))
    for (const word of words.split(' ').filter(Boolean)) capabilities.add(word)
    const [, id, name = ''] = /^([\da-f]{40}) (\S+)$/.exec(line) ?? []
    if (id !== undefined && name === 'HEAD') head = id
    if (id !== undefined && isRefName(name)) ids.set(name, id)
  }
  if ([...capabilities].some((word) => /^object-format=(?!sha1$)/.test(word)))
    throw new Error('its object format is not SHA-1, and no other is supported')
  return { ids, main: mainOf(ids, head, capabilities), capabilities }
}

/** As the server says; an older one says only which commit it is. */
function mainOf(
  ids: ReadonlyMap<string, string>,
  head: string | undefined,
  capabilities: ReadonlySet<string>,
): string | undefined {
  const said = [...capabilities].find((word) => word.startsWith('symref=HEAD:'))?.slice(12)
  if (said !== undefined && ids.has(said)) return said
  const usual = ['refs/heads/main', 'refs/heads/master']
  const branches = [...usual, ...ids.keys()].filter((name) => name.startsWith('refs/heads/'))
  return branches.find((name) => head !== undefined && ids.get(name) === head)
}
