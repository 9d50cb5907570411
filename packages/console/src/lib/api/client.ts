/** The typed client of the service, by its own description: cookie or key, and errors with their request id. */
import createClient from 'openapi-fetch'
import { leaveForSignIn, serviceUrl } from '../place.ts'
import { tabKey, tabWorkspace } from '../tab.ts'
import { ApiError, refusalOf } from './refusal.ts'
import type { paths } from './openapi.gen.ts'

/** The headers that say who asks. The cookie goes by itself. */
export function callerHeaders(): Record<string, string> {
  const key = tabKey()
  if (key !== undefined) return { 'x-api-key': key }
  const workspace = tabWorkspace()
  return workspace === undefined ? {} : { 'anthropic-workspace-id': workspace }
}

const unreachable = (): ApiError =>
  new ApiError({
    message: 'the server does not answer',
    status: 0,
    type: 'unreachable',
    requestId: undefined,
  })

const client = createClient<paths>({ baseUrl: serviceUrl })

/** Memory stores are asked for by this word. */
const memoryBeta = 'agent-memory-2026-07-22'

client.use({
  onRequest({ request, schemaPath }) {
    for (const [name, value] of Object.entries(callerHeaders())) request.headers.set(name, value)
    if (schemaPath.startsWith('/v1/memory_stores')) request.headers.set('vendor-beta', memoryBeta)
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
