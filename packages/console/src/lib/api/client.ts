/** The typed client of the service, by its own description: cookie or key, and errors with their request id. */
import createClient from 'openapi-fetch'
import { leaveForSignIn, serviceUrl } from '../place.ts'
import { tabKey, tabWorkspace } from '../tab.ts'
import type { paths } from './openapi.gen.ts'

/** A refusal of the service, or a request without an answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly requestId: string | undefined
  constructor(facts: {
    message: string
    status: number
    type: string
    requestId: string | undefined
  }) {
    super(facts.message)
    this.name = 'ApiError'
    this.status = facts.status
    this.type = facts.type
    this.requestId = facts.requestId
  }
}

/** The headers that say who asks. The cookie goes by itself. */
export function callerHeaders(): Record<string, string> {
  const key = tabKey()
  if (key !== undefined) return { 'x-api-key': key }
  const workspace = tabWorkspace()
  return workspace === undefined ? {} : { 'anthropic-workspace-id': workspace }
}

type ErrorBody = { error?: { type?: unknown; message?: unknown }; request_id?: unknown }

/** Reads what a service or a proxy in front of it says. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const body: ErrorBody = await response.json().catch(() => ({}))
  const { type, message } = body.error ?? {}
  const requestId = body.request_id ?? response.headers.get('request-id')
  return new ApiError({
    status: response.status,
    type: typeof type === 'string' ? type : 'unknown',
    message: typeof message === 'string' ? message : `the server answered ${response.status}`,
    requestId: typeof requestId === 'string' ? requestId : undefined,
  })
}

const unreachable = (): ApiError =>
  new ApiError({
    message: 'the server does not answer',
    status: 0,
    type: 'unreachable',
    requestId: undefined,
  })

const client = createClient<paths>({ baseUrl: serviceUrl })

client.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(callerHeaders())) request.headers.set(name, value)
    return request
  },
  async onResponse({ response }) {
    if (!response.ok) throw await refusalOf(response)
  },
  onError({ error }) {
    if (error instanceof ApiError || (error instanceof Error && error.name === 'AbortError'))
      return error
    return unreachable()
  },
})

export const api = client

/** The data of an answer. Where nobody is signed in any more, the page is left for the sign-in. */
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return leaveForSignIn()
    throw error
  })
  if (data === undefined) throw unreachable()
  return data
}
