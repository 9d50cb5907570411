import { randomUUIDv7 } from 'node:crypto'

const prefixes = {
  agent: 'agent_',
  api_key: 'apikey_',
  environment: 'env_',
  event: 'sevt_',
  model_card: 'card_',
  process: 'proc_',
  request: 'req_',
  session: 'sesn_',
  thread: 'sthr_',
  workspace: 'wrkspc_',
} as const

export type IdKind = keyof typeof prefixes

/** Unique, unguessable enough to name but never to authorise, and sorted by the time of its making. */
export const newId = (kind: IdKind): string => prefixes[kind] + randomUUIDv7().replaceAll('-', '')

/** The primary thread of a session is named after it, so that it needs no row. */
export const threadOf = (sessionId: string): string =>
  prefixes.thread + sessionId.slice(prefixes.session.length)
