/** Requests to a cloud under the identity of the server there. An identity that the cloud refuses is asked for anew, once. */
import type { CloudFailure, CloudIdentity } from '@steward/cloud/identity.ts'
import type { ManagerFailure, ManagerWire, WireAnswer, WireRequest } from './wire.ts'
import { askTwice, failure } from './wire.ts'

export type CloudRequests<Credential> = {
  wire: ManagerWire
  identity: CloudIdentity<Credential>
  /** The request with its signature or token. */
  sign: (request: WireRequest, credential: Credential) => Promise<WireRequest>
  /** What an answer means that is no success. */
  failureOf: (status: number, text: string) => ManagerFailure
}

/** SECRET: never logged: the text of an answer may be one. */
export type CloudAnswer = { ok: true; text: string } | ManagerFailure

export function cloudRequests<Credential>({
  wire,
  identity,
  sign,
  failureOf,
}: CloudRequests<Credential>) {
  async function once(request: WireRequest, signal: AbortSignal): Promise<CloudAnswer> {
    const own = await Promise.race([identity.current(), lateness(signal)])
    if (!own.ok) return failure(own.retryable ? 'away' : 'sign_in', own.message)
    const answer: WireAnswer = await wire(await sign(request, own.credential), signal)
    if (!answer.ok) return answer
    return answer.status === 200 ? answer : failureOf(answer.status, answer.text)
  }

  return (request: WireRequest, signal: AbortSignal): Promise<CloudAnswer> =>
    askTwice(async () => {
      const answer = await once(request, signal)
      if (answer.ok || answer.why !== 'sign_in') return answer
      identity.forget()
      return once(request, signal)
    }, signal)
}

/** An identity is asked for by other callers too, so that the request for it goes on. */
async function lateness(signal: AbortSignal): Promise<CloudFailure> {
  if (!signal.aborted)
    await new Promise((end) => signal.addEventListener('abort', end, { once: true }))
  return { ok: false, message: 'the cloud does not say in time who the server is', retryable: true }
}

/** Signs by a token in the header `authorization`. */
export const bearer = async (
  request: WireRequest,
  { token }: { token: string },
): Promise<WireRequest> => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
})
