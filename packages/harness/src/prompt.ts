/**
 * The machine where an agent's own tools work: in a sandbox, on the server's machine itself (for trials), or on a
 * worker's machine.
 */
export type ToolHost = 'sandbox' | 'host' | 'worker'

/** Hosts as the environment lists them. `allow` is null when all other hosts are open. */
export type NetworkReach = { allow: readonly string[] | null; deny: readonly string[] }

const hostSentences: Record<ToolHost, string> = {
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

/** The prompt names at most this many hosts, because it is part of every request. */
const named = 50

function network({ allow, deny }: NetworkReach): string {
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
 * The whole system prompt. It is deterministic, because prompt caches match from the beginning of a request. `toolHost`:
 * only for an agent whose tools need one.
 */
export function systemPrompt({
  agent,
  toolHost,
  reach,
  parts,
}: {
  agent: string | null
  toolHost: ToolHost | undefined
  reach: NetworkReach
  /** Further parts of the prompt, one for each kind of resource. */
  parts: readonly string[]
}): string {
  const where =
    toolHost === 'worker'
      ? hostSentences.worker
      : toolHost
        ? `${hostSentences[toolHost]} ${network(reach)}`
        : ''
  return [agent ?? '', where, ...parts].filter((part) => part !== '').join('\n\n')
}
