/** This tab's part in the one connection of the browser: what it wants to hear, and who hears it. */
import { callerHeaders } from '../api/client.ts'
import { leaveForSignIn, serviceUrl } from '../place.ts'
import { noteHeard, noteLost } from './connection.ts'
import { ledStream } from './led-stream.ts'
import type { News, StreamData, Wish } from './messages.ts'
import type { StreamPort } from './one-stream.ts'
import { serviceStream } from './service-stream.ts'
import type { ToWorker } from './shared-worker.ts'

type SessionListener = {
  onData: (data: StreamData) => void
  onRefused: (message: string) => void
  /** The newest event that is known, behind which to go on. */
  last: () => number
}

const changes = new Set<(data: StreamData) => void>()
const sessions = new Map<string, Set<SessionListener>>()
let port: StreamPort | undefined

/** The newest event that every listener of the session has. */
const knownOf = (session: string): number =>
  Math.min(...[...(sessions.get(session) ?? [])].map(({ last }) => last()))

/** Everything that this tab wants now. */
function wishes(): Wish[] {
  const follow = (session: string): Wish => ({ kind: 'follow', session, after: knownOf(session) })
  return [{ kind: 'workspace', isWanted: changes.size > 0 }, ...[...sessions.keys()].map(follow)]
}

function hear(news: News): void {
  if (news.kind === 'lost') return noteLost()
  if (news.kind === 'refused') return hearRefusal(news)
  noteHeard()
  if (news.kind !== 'data') return
  const { session_id: session } = news.data
  if (session === undefined) for (const tell of changes) tell(news.data)
  else for (const { onData } of sessions.get(session) ?? []) onData(news.data)
}

/** A stream that is refused as a whole is no live one; where nobody is signed in any more, the page is left. */
function hearRefusal({ session, message, isSignedOut }: Extract<News, { kind: 'refused' }>): void {
  if (isSignedOut === true) return void leaveForSignIn()
  if (session === undefined) noteLost()
  for (const told of session === undefined ? [...sessions.keys()] : [session])
    for (const { onRefused } of sessions.get(told) ?? []) onRefused(message)
}

function openPort(): StreamPort {
  const caller = { serviceUrl, headers: callerHeaders() }
  if (typeof SharedWorker === 'function') {
    const worker = new SharedWorker(new URL('./shared-worker.ts', import.meta.url), {
      type: 'module',
      name: 'steward',
    })
    const say = (message: ToWorker) => worker.port.postMessage(message)
    worker.port.onmessage = ({ data }: MessageEvent<News>) => hear(data)
    say({ kind: 'hello', caller })
    return { ask: (wish) => say({ kind: 'wish', wish }), leave: () => say({ kind: 'bye' }) }
  }
  // A key stands in no name that other pages of this origin could read.
  const isShared = 'locks' in navigator && caller.headers['x-api-key'] === undefined
  if (!isShared) return serviceStream(caller).join(hear)
  const name = `steward ${serviceUrl} ${caller.headers['anthropic-workspace-id'] ?? ''}`
  return ledStream(name, { open: () => serviceStream(caller), tell: hear, wishes })
}

function ask(wish: Wish): void {
  if (!port) {
    port = openPort()
    addEventListener('pagehide', close)
    addEventListener('pageshow', reopen)
  }
  port.ask(wish)
}

function close(): void {
  port?.leave()
  port = undefined
}

/** A page that comes back from the browser's memory asks for everything again. */
function reopen(event: PageTransitionEvent): void {
  if (event.persisted) for (const wish of wishes()) ask(wish)
}

/** Calls for each change of the workspace until the signal aborts. */
export function onChange(tell: (data: StreamData) => void, signal: AbortSignal): void {
  changes.add(tell)
  ask({ kind: 'workspace', isWanted: true })
  signal.addEventListener('abort', () => {
    changes.delete(tell)
    if (changes.size === 0) ask({ kind: 'workspace', isWanted: false })
  })
}

/** Follows a session that the service has left, behind what is known now. */
export function followAgain(session: string): void {
  if (sessions.has(session)) ask({ kind: 'follow', session, after: knownOf(session) })
}

/** Calls for each event of a session, and each piece of one, until the signal aborts. */
export function onSession(session: string, listener: SessionListener, signal: AbortSignal): void {
  const listeners = sessions.get(session) ?? new Set()
  sessions.set(session, listeners.add(listener))
  ask({ kind: 'follow', session, after: knownOf(session) })
  signal.addEventListener('abort', () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    sessions.delete(session)
    ask({ kind: 'unfollow', session })
  })
}
