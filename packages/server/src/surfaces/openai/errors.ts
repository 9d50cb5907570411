/** Errors in the form that the `openai` client reads: `{ error: { message, type, param, code } }`. */
import { errorAnswer } from '../../ground/http/errors.ts'
import type { SurfaceWire } from '../../ground/http/wire.ts'

type ErrorWords = { type: string; code: string }

const words: Record<number, ErrorWords> = {
  400: { type: 'invalid_request_error', code: 'invalid_request_error' },
  401: { type: 'authentication_error', code: 'invalid_api_key' },
  403: { type: 'permission_error', code: 'permission_denied' },
  404: { type: 'not_found_error', code: 'not_found' },
  409: { type: 'conflict_error', code: 'conflict' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
}
const serverError: ErrorWords = { type: 'server_error', code: 'internal_error' }

/** A table of all statuses and their types, for the published description. */
export const describeErrors = (): string =>
  [
    'An error. `error.type` follows from the status, and `error.code` too unless a more exact word is known:',
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

type RefusalBody = {
  error: { message: string; error_code?: unknown; details?: { error_code?: unknown } }
}

const codeOf = ({ error }: RefusalBody): string | undefined => {
  const code = error.error_code ?? error.details?.error_code
  return typeof code === 'string' ? code : undefined
}

export const openaiWire: SurfaceWire = {
  requestIdHeader: 'x-request-id',
  errorAnswer(thrown, given) {
    const { status, headers, body } = errorAnswer(thrown, given)
    const told = body as RefusalBody
    const { type, code } = words[status] ?? (status < 500 ? words[400] : undefined) ?? serverError
    const { message, param } = namedField(told.error.message)
    const error = { message, type, param, code: codeOf(told) ?? code }
    return { status, headers, body: { error } }
  },
}
