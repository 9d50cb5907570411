import { randomUUIDv7 } from 'node:crypto'

const prefixes = {
  agent: 'agent_',
  api_key: 'apikey_',
  audit_line: 'audit_',
  checkpoint: 'chkpt_',
  credential: 'vcrd_',
  credential_change: 'cchg_',
  deployment: 'depl_',
  deployment_run: 'drun_',
  dream: 'drm_',
  environment: 'env_',
  eval: 'evrun_',
  eval_dataset: 'evds_',
  eval_result: 'evres_',
  event: 'sevt_',
  file: 'file_',
  hold: 'hold_',
  installation: 'inst_',
  integration_delivery: 'intdel_',
  integration_thread: 'intthr_',
  invitation: 'invite_',
  mcp_probe: 'mcpp_',
  memory: 'mem_',
  memory_store: 'memstore_',
  memory_version: 'memver_',
  message: 'msg_',
  model_card: 'card_',
  outcome: 'outc_',
  person: 'user_',
  process: 'proc_',
  provider_grant: 'pgrant_',
  publication: 'pub_',
  request: 'req_',
  secret_read: 'sread_',
  session: 'sesn_',
  session_resource: 'sesrsc_',
  sign_in: 'signin_',
  sign_in_account: 'sgnacc_',
  skill: 'skill_',
  skill_archive: 'sklz_',
  spend_limit: 'spl_',
  stream: 'strm_',
  subject: 'sub_',
  thread: 'sthr_',
  vault: 'vlt_',
  verification: 'verif_',
  view: 'view_',
  webhook_delivery: 'whdel_',
  webhook_endpoint: 'whep_',
  webhook_event: 'whevt_',
  work: 'work_',
  workspace: 'wrkspc_',
} as const

export type IdKind = keyof typeof prefixes

/** Digits of a version 7 UUID: twelve of time, one of the version, three of a counter, sixteen random. RFC 9562 6.2 */
let lastTime = ''
let count = 0

/**
 * A unique id that sorts by the time of its creation. Within one millisecond the order holds for up to 4,096 ids of a
 * process. An id names a thing and never authorises a caller.
 */
export function newId(kind: IdKind): string {
  const digits = randomUUIDv7().replaceAll('-', '')
  const time = digits.slice(0, 12)
  count = time === lastTime ? Math.min(count + 1, 0xfff) : 0
  lastTime = time
  return `${prefixes[kind]}${time}7${count.toString(16).padStart(3, '0')}${digits.slice(16)}`
}

/** True when the id has the prefix of the kind. */
export const isIdOf = (kind: IdKind, id: string): boolean => id.startsWith(prefixes[kind])

/** The id of the outcome that the event defines. Outcomes sort as their events do. */
export const outcomeIdOf = (eventId: string): string =>
  prefixes.outcome + eventId.slice(prefixes.event.length)

/** The id of the thread that a call starts. A repeated call finds the thread by it. */
export const threadIdOfCall = (eventId: string): string =>
  prefixes.thread + eventId.slice(prefixes.event.length)

/** The id of the call that started the thread. */
export const callIdOfThread = (threadId: string): string =>
  prefixes.event + threadId.slice(prefixes.thread.length)

/** The id of a session's primary thread, derived from the session's id, so that the thread needs no row. */
export const primaryThreadId = (sessionId: string): string =>
  prefixes.thread + sessionId.slice(prefixes.session.length)
