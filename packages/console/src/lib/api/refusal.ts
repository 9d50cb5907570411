/** What the service says when it refuses. */

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
