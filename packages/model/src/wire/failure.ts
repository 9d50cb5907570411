import { createMask } from '@steward/mask/mask.ts'
import { credentialSecrets } from '@steward/cloud/credentials.ts'
import type { ModelFailure } from '../model.ts'
import type { ModelSpec } from '../spec.ts'

/** Everything known about a failed call. */
export type FailedCall = {
  /** The library's message. An HTTP status stands at its beginning, or in the JSON within it. */
  message: string
  overflow: boolean
  /** The reason why the connection failed, if known. */
  cause?: unknown
  retryAfterMs?: number
  /** False when the request was never sent, which is an error in the request. */
  sent: boolean
}

type FailureKind = ModelFailure['kind']

export function toModelFailure(trouble: FailedCall, secrets: readonly string[]): ModelFailure {
  const status = statusOf(trouble.message)
  const kind = kindOf(trouble, status)
  const retryAfterMs = trouble.retryAfterMs ?? retryDelayIn(trouble.message)
  return {
    kind,
    retryable: isRetryable(kind, status, trouble),
    message: redactSecrets(plain(trouble, kind), secrets),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Reads the status in all spellings: `429 {…}`, `429: {…}`, `OpenAI API error (429): …`, `{"error":{"code":429…`. */
function statusOf(message: string): number | undefined {
  const found =
    /^(\d{3})\b/.exec(message) ??
    /^[^({]* API error \((\d{3})\)/.exec(message) ??
    /^(?:got status: [^{]*)?\{"error":\{[^}]*?"code":(\d{3})\b/.exec(message)
  return found === null ? undefined : Number(found[1])
}

/** The first kind that matches wins. */
const kinds: [FailureKind, statuses: number[], words: RegExp][] = [
  [
    'billing',
    [402],
    /insufficient_quota|billing_error|billing_hard_limit|credit balance is too low/,
  ],
  ['overloaded', [503, 529], /overloaded_error|server_overloaded|"UNAVAILABLE"/],
  ['rate_limited', [429], /rate_limit/],
  [
    'authentication',
    [401, 403],
    /authentication_error|permission_error|API_KEY_INVALID|API key not valid/,
  ],
]

function kindOf(trouble: FailedCall, status: number | undefined): FailureKind {
  if (isRefusedAddress(trouble.cause)) return 'refused_address'
  // Bedrock says of a rate that there are too many tokens.
  const isRate = status === 429 || /"rate_limit_error"/.test(trouble.message)
  if (trouble.overflow && !isRate) return 'context_overflow'
  const fits = kinds.find(
    ([, statuses, words]) =>
      (status !== undefined && statuses.includes(status)) || words.test(trouble.message),
  )
  if (fits !== undefined) return fits[0]
  const answered = status !== undefined || stated.test(trouble.message)
  return answered || !trouble.sent ? 'request_failed' : 'unreachable'
}

/** Matches messages of errors that the provider sent within its answer. */
const stated =
  /(?<!network)_error\b|Provider (finish_reason|stopped with): (?!network_error)|^[a-z_]+: |Error Code |Response incomplete/

function isRetryable(kind: FailureKind, status: number | undefined, trouble: FailedCall): boolean {
  switch (kind) {
    case 'overloaded':
    case 'rate_limited':
    case 'unreachable':
      return true
    case 'request_failed':
      if (status !== undefined) return status >= 500 || [408, 409, 425].includes(status)
      return trouble.sent && !/invalid_request|not_found_error/.test(trouble.message)
    case 'billing':
    case 'authentication':
    case 'context_overflow':
    case 'refused_address':
    case 'aborted':
      return false
  }
}

function isRefusedAddress(error: unknown): boolean {
  return chain(error).some(
    (each) =>
      ('code' in each && each.code === 'EREFUSEDADDRESS') ||
      (each instanceof AggregateError && each.errors.some(isRefusedAddress)),
  )
}

const longestChain = 8

/** An error with its chain of causes. */
function chain(error: unknown, length = longestChain): Error[] {
  return error instanceof Error && length > 0 ? [error, ...chain(error.cause, length - 1)] : []
}

/** The provider's own sentence, if the JSON around it can be parsed. */
function plain({ message, cause }: FailedCall, kind: FailureKind): string {
  const start = message.indexOf('{')
  if (start !== -1) {
    const said = sentenceIn(message.slice(start))
    if (said !== undefined) return said
  }
  if (kind === 'unreachable' || kind === 'refused_address') {
    const deepest = chain(cause).findLast((each) => each.message !== '')
    if (deepest !== undefined) return `${message} (${deepest.message})`
  }
  return message
}

function sentenceIn(json: string): string | undefined {
  let body: unknown
  try {
    body = JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  for (const holder of [field(body, 'error'), body]) {
    const message = field(holder, 'message')
    if (typeof message === 'string' && message !== '') return sentenceIn(message) ?? message
  }
  return undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** Google says in the body how long to wait. */
function retryDelayIn(message: string): number | undefined {
  const found = /"retryDelay":\s*"([\d.]+)s"/.exec(message)
  return found === null ? undefined : Math.ceil(Number(found[1]) * 1000)
}

const longestMessage = 2_000

/** Secrets that no message may repeat. A card's own headers are sealed like its key. */
export const modelSecrets = ({
  api_key,
  headers,
  cloud,
}: Pick<ModelSpec, 'api_key' | 'headers' | 'cloud'>): string[] => [
  api_key,
  ...Object.values(headers ?? {}),
  ...credentialSecrets(cloud?.credentials),
]

/** Shortest secret that is removed from messages, in bytes. */
const shortestSecret = 6

export function redactSecrets(message: string, secrets: readonly string[]): string {
  const clean = createMask(secrets, { least: shortestSecret })?.text(message) ?? message
  return clean.length <= longestMessage ? clean : `${clean.slice(0, longestMessage)}…`
}
