/** The branches and tags that a server advertises. gitprotocol-http(5), gitprotocol-pack(5) */
import { isRefName } from '../../ground/core/text/ref-names.ts'
import { decodePackets } from './packets.ts'

export type Refs = {
  /** Commit ids of branches and tags, by full name. Names that git does not accept are left out. */
  ids: ReadonlyMap<string, string>
  /** The default branch; undefined when the repository has none. */
  main: string | undefined
  capabilities: ReadonlySet<string>
}

/** Throws on a malformed advertisement. */
export async function readRefs(body: AsyncIterable<Buffer>): Promise<Refs> {
  const ids = new Map<string, string>()
  const capabilities = new Set<string>()
  let head: string | undefined
  for await (const bytes of decodePackets(body)) {
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

/** The default branch as the server names it. An older server names only its commit. */
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
