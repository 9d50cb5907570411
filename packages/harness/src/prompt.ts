/** Where an agent's own tools work: a sandbox, for trials the machine itself, or a worker's machine. */
export type WorkPlace = 'sandbox' | 'host' | 'worker'

/** Hosts as the environment lists them; `allow` is null where everything else is open. */
export type Reach = { allow: readonly string[] | null; deny: readonly string[] }

const places: Record<WorkPlace, string> = {
  sandbox:
    'You work in a sandbox of your own. Your working directory is /workspace; what you write there stays for the ' +
    'session. Files for the user go to /mnt/session/outputs.',
  host:
    'Your commands run on the machine that serves you, without isolation, and begin in a folder of this session, ' +
    'which your file tools call /workspace; what you write there stays for the session. Files for the user are ' +
    'written with the file tools to /mnt/session/outputs.',
  worker:
    "Your tools run on a machine of the user's own, in a working directory where relative paths and commands begin.",
}

/** No more than this many hosts are named: the prompt opens every request. */
const named = 50

function network({ allow, deny }: Reach): string {
  if (allow?.length === 0) return 'Commands have no network.'
  const way = 'through a proxy that is set up already; credentials of the user are added on the way'
  const hosts = (list: readonly string[]) =>
    list.length > named ? `${list.slice(0, named).join(', ')} and others` : list.join(', ')
  const except = deny.length > 0 ? ` Refused: ${hosts(deny)}.` : ''
  return allow
    ? `Of the network, commands reach only ${hosts(allow)}, ${way}.${except}`
    : `Commands reach the internet ${way}.${except}`
}

/**
 * The whole system prompt. Deterministic: it opens every request, and prompt caches begin with it. `place` is given to
 * an agent whose tools need one.
 */
export function systemPrompt({
  agent,
  place,
  reach,
  parts,
}: {
  agent: string | null
  place: WorkPlace | undefined
  reach: Reach
  /** What else the session works with, each told by itself. */
  parts: readonly string[]
}): string {
  const where =
    place === 'worker' ? places.worker : place ? `${places[place]} ${network(reach)}` : ''
  return [agent ?? '', where, ...parts].filter((part) => part !== '').join('\n\n')
}
