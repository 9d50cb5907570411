/** Requests to Google Secret Manager and Google Cloud KMS. */
import type { BearerIdentity } from '@steward/cloud/identity.ts'
import { z } from 'zod'
import { bearer, cloudRequests } from '../cloud-wire.ts'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { clippedWords, failure, failureOfStatus, parsedJson } from '../wire.ts'

/** `identity`: a token for https://www.googleapis.com/auth/cloud-platform. SECRET: never logged. */
export type GoogleRequestDeps = { wire: ManagerWire; identity: BearerIdentity }

const Refusal = z.object({
  error: z.object({ message: z.string().optional(), status: z.string().optional() }),
})

const kinds: Readonly<Record<string, ManagerFailure['why']>> = {
  NOT_FOUND: 'missing',
  // A version that is disabled or destroyed.
  FAILED_PRECONDITION: 'missing',
  PERMISSION_DENIED: 'denied',
  UNAUTHENTICATED: 'sign_in',
  RESOURCE_EXHAUSTED: 'away',
  UNAVAILABLE: 'away',
  DEADLINE_EXCEEDED: 'away',
  INTERNAL: 'away',
}

export function googleFailure(status: number, text: string): ManagerFailure {
  const parsed = Refusal.safeParse(parsedJson(text))
  const { message = '', status: name = '' } = parsed.success ? parsed.data.error : {}
  const said = clippedWords([name, message].filter(Boolean).join(': '))
  const why = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  return why ? failure(why, said) : failureOfStatus(status, said)
}

/** `path`: below `/v1/`, its parts checked at the door. */
export function googleRequests(endpoint: string, deps: GoogleRequestDeps) {
  const send = cloudRequests({ ...deps, sign: bearer, failureOf: googleFailure })
  return (path: string, body: object | undefined, signal: AbortSignal) =>
    send(
      {
        method: body === undefined ? 'GET' : 'POST',
        url: new URL(`/v1/${path}`, endpoint),
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal,
    )
}
