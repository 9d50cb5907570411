/** Errors in the form that the `openai` client reads: `{ error: { message, type, param, code } }`. */
import { errorAnswer } from '../../ground/http/errors.ts'
import type { SurfaceWire } from '../../ground/http/wire.ts'

type ErrorWords = { type: string; code: string }

/** The words of the vendor for each status. Its guide asks programs to look at the code, so there is no other code. */
const words: Record<number, ErrorWords> = {
  400: { type: 'invalid_request_error', code: 'invalid_request_error' },
  401: { type: 'authentication_error', code: 'unauthorized' },
  403: { type: 'permission_error', code: 'forbidden' },
  404: { type: 'not_found_error', code: 'not_found_error' },
  409: { type: 'conflict_error', code: 'conflict_error' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  503: { type: 'server_error', code: 'service_unavailable_error' },
}
const serverError: ErrorWords = { type: 'server_error', code: 'internal_error' }

/** A table of all statuses and their types, for the published description. */
export const describeErrors = (): string =>
  [
    'An error. `error.type` and `error.code` follow from the status:',
    '',
    '| status | `error.type` | `error.code` |',
    '|---|---|---|',
    ...Object.entries(words).map(([status, each]) => rowOf(status, each)),
    rowOf('others below 500', words[400] ?? serverError),
    rowOf('500 and above', serverError),
  ].join('\n')

const rowOf = (status: string, { type, code }: ErrorWords): string =>
  `| ${status} | \`${type}\` | \`${code}\` |`

/** Fields of `/v1` that have another name on this surface. */
const names = new Map([
  ['budget', 'spend_control'],
  ['initial_events', 'input'],
  ['resources', 'environment.files'],
  ['mount_path', 'path'],
  ['custom_tool_use_id', 'call_id'],
  ['tool_use_id', 'request_id'],
])

/** Splits the field off the beginning of a message: `agent.tools.0.name: must not be empty`. */
function namedField(message: string): { param: string | null; message: string } {
  const field = /^([\w.[\]-]+): /.exec(message)?.[1]
  if (field === undefined) return { param: null, message }
  // On this surface the fields of a schedule stand beside the others.
  const param = field
    .replace(/^schedule\./, '')
    .split('.')
    .map((name) => names.get(name) ?? name)
    .join('.')
  return { param, message: param + message.slice(field.length) }
}

type RefusalBody = { error: { message: string } }

/** A time as the vendor writes it in headers: `800ms`, `12s`. */
const durationOf = (ms: number): string => (ms < 1_000 ? `${ms}ms` : `${Math.ceil(ms / 1_000)}s`)

export const openaiWire: SurfaceWire = {
  requestIdHeader: 'x-request-id',
  errorAnswer(thrown, given) {
    const { status, headers, body } = errorAnswer(thrown, given)
    const told = body as RefusalBody
    const { type, code } = words[status] ?? (status < 500 ? words[400] : undefined) ?? serverError
    const { message, param } = namedField(told.error.message)
    return { status, headers, body: { error: { message, type, param, code } } }
  },
  rateLimitHeaders: ({ rate, remaining, fullAtMs }, now) => ({
    'x-ratelimit-limit-requests': String(rate.limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': durationOf(Math.max(0, Math.ceil(fullAtMs - now))),
  }),
}
