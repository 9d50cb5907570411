import type { Answers } from '@steward/protocol/agents.ts'
import { outputsPath } from '@steward/sandbox/sandbox.ts'

/**
 * The machine where an agent's own tools work: in a sandbox, on the server's machine itself (for trials), or on a
 * worker's machine.
 */
export type ToolHost = 'sandbox' | 'host' | 'worker'

/** Hosts as the environment lists them. `allow` is null when all other hosts are open. */
export type NetworkReach = { allow: readonly string[] | null; deny: readonly string[] }

/** `outputs`: the folder for the user's files below `/workspace`; null for `/mnt/session/outputs`. */
const hostSentences: Record<ToolHost, (outputs: string | null) => string> = {
  sandbox: (outputs) =>
    'You work in a sandbox of your own. Your working directory is /workspace; what you write there stays for the ' +
    `session. Files for the user go to ${outputs ?? outputsPath}.`,
  host: (outputs) =>
    'Your commands run on the machine that serves you, without isolation, and begin in a folder of this session, ' +
    'which your file tools call /workspace; what you write there stays for the session. Files for the user are ' +
    `written with the file tools to ${outputs ?? outputsPath}.`,
  worker: (outputs) =>
    "Your tools run on a machine of the user's own, in a working directory where relative paths and commands begin." +
    (outputs === null ? '' : ` Files for the user go to ${outputs}.`),
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

const lengths = {
  low: 'Keep your answers short: say only what is needed.',
  medium: '',
  high: 'Answer at length: explain what you did and why.',
}

/** Parts of the prompt about the form of the agent's texts. */
export function answersPrompt({ verbosity = 'medium', schema }: Answers = {}): string[] {
  const form =
    schema &&
    `The last message of your turn is JSON alone, without a code block, that matches this JSON Schema: ${JSON.stringify(schema)}`
  return [lengths[verbosity], form ?? ''].filter((part) => part !== '')
}

/**
 * The whole system prompt. It is deterministic, because prompt caches match from the beginning of a request. `toolHost`:
 * only for an agent whose tools need one.
 */
export function systemPrompt({
  agent,
  toolHost,
  outputs = null,
  reach,
  parts,
}: {
  agent: string | null
  toolHost: ToolHost | undefined
  outputs?: string | null
  reach: NetworkReach
  /** Further parts of the prompt, one for each kind of resource. */
  parts: readonly string[]
}): string {
  const where =
    toolHost === 'worker'
      ? hostSentences.worker(outputs)
      : toolHost
        ? `${hostSentences[toolHost](outputs)} ${network(reach)}`
        : ''
  return [agent ?? '', where, ...parts].filter((part) => part !== '').join('\n\n')
}
