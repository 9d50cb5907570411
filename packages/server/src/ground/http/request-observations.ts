/** What a process tells of each request: when it has come, and when it is answered. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { observation } from '@steward/base/observation.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

export type AnsweredRequest = {
  requestId: string
  method: string
  /** The route's path with its parameters as names, never a value of the caller's; undefined where no route has the path. */
  route: string | undefined
  status: number
  /** From the arrival of the head to the end of the answer, or to the leaving of the caller. */
  ms: number
  /** An event stream, which lasts as long as its reader wants. */
  isStream: boolean
  /** Whose credential it was, where the request had one that is known. */
  tenant: string | undefined
  keyId: string | undefined
}

export type StartedRequest = Pick<AnsweredRequest, 'requestId' | 'method' | 'route'> & {
  /** The session that the path names. */
  session: string | undefined
  /** As W3C Trace Context has it: unchecked, as the caller sent it. */
  traceparent: string | undefined
}

export const requestStarted = observation<StartedRequest>('request-begun')
/** Told once a request that was told to begin may call its route. */
export const callerFound = observation<{ requestId: string }>('caller-found')
export const requestAnswered = observation<AnsweredRequest>('request-answered')

/** To be called once the caller is known. */
export type NoteCaller = (principal: Principal) => void

const noteNobody: NoteCaller = () => {}

/** Tells of the request when its answer is over. */
export function observeRequest(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  {
    requestId,
    route,
    params = {},
  }: { requestId: string; route?: Pick<Route, 'path' | 'answer'>; params?: Record<string, string> },
): NoteCaller {
  if (!requestAnswered.isHeard()) return noteNobody
  const method = incoming.method ?? ''
  const traceparent = incoming.headers['traceparent']
  requestStarted.tell({
    requestId,
    method,
    route: route?.path,
    session: route?.path.startsWith('/v1/sessions/:id') ? params['id'] : undefined,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  })
  const began = performance.now()
  let caller: Principal | undefined
  outgoing.once('close', () => {
    requestAnswered.tell({
      requestId,
      method,
      route: route?.path,
      status: outgoing.statusCode,
      ms: performance.now() - began,
      isStream: route?.answer === 'stream',
      tenant: caller?.tenant || undefined,
      keyId: caller && 'keyId' in caller ? caller.keyId || undefined : undefined,
    })
  })
  return (principal) => {
    caller = principal
    callerFound.tell({ requestId })
  }
}
