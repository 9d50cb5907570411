/** Observations of each request: its arrival, its caller and its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createObservation } from '@steward/base/observation.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

export type AnsweredRequest = {
  requestId: string
  method: string
  /** The route's path with names of parameters, never with values of the caller. Undefined without a route. */
  route: string | undefined
  status: number
  /** Milliseconds from the arrival of the head to the end of the answer, or until the caller disconnects. */
  ms: number
  /** True for an event stream, whose reader decides how long it lasts. */
  isStream: boolean
  /** Tenant and key of the request's credential. Undefined without a valid one. */
  tenant: string | undefined
  keyId: string | undefined
}

export type StartedRequest = Pick<AnsweredRequest, 'requestId' | 'method' | 'route'> & {
  /** The session in the path. */
  session: string | undefined
  /** The W3C Trace Context header, unchecked. */
  traceparent: string | undefined
}

export const requestStarted = createObservation<StartedRequest>('request-begun')
/** Published when the caller of a started request is authenticated. */
export const callerFound = createObservation<{ requestId: string }>('caller-found')
export const requestAnswered = createObservation<AnsweredRequest>('request-answered')

/** Call it once the caller is known. */
export type NoteCaller = (principal: Principal) => void

const noteNobody: NoteCaller = () => {}

/** Publishes the start of the request now, and its answer when the response closes. */
export function observeRequest(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  {
    requestId,
    route,
    params = {},
  }: { requestId: string; route?: Route; params?: Record<string, string> },
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
