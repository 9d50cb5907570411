/** Errors of clouds in the form that the clients of the wires read. */
import { boundedAnswer } from '../wire/bounded-answer.ts'
import { isRecord } from '../wire/fit/loose.ts'
import { parsedRecord } from './json.ts'

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
}

/** Status, headers and the cloud's own sentence stay. An answer that has the form already, or none, stays as it is. */
export async function wireError(response: Response): Promise<Response> {
  const { status, headers } = response
  const bounded = await boundedAnswer(response)
  const text = await bounded.text()
  const message = foreignSentence(text)
  const shown = new Headers(headers)
  shown.delete('content-length')
  shown.delete('content-encoding')
  if (message === undefined) return new Response(text, { status, headers: shown })
  shown.set('content-type', 'application/json')
  const error = { type: types[status] ?? 'api_error', message }
  return new Response(JSON.stringify({ type: 'error', error }), { status, headers: shown })
}

/** Amazon says `message` alone. Google says `error.message` with a status in words, at times within a list. */
function foreignSentence(text: string): string | undefined {
  const said = parsedRecord(text)
  if (said === undefined) return undefined
  const { error } = said
  const isGoogle = isRecord(error) && typeof error.status === 'string'
  const found = isGoogle ? error.message : error === undefined && (said.message ?? said.Message)
  return typeof found === 'string' ? found : undefined
}
