/** The generic signed webhook: declared paths turn a JSON payload into a message, and tellings are posted to a URL. */
import { checkSignature } from './check-signature.ts'
import type {
  IgnoredDelivery,
  Incoming,
  IncomingMessage,
  Integration,
  Telling,
} from '../integration.ts'
import { valueAt } from './json-pointer.ts'
import { parsePayload, shortenContext } from './payload.ts'
import { answerVerdict, refusalReason } from '../answers/verdict.ts'

/** JSON pointers into the payload. */
export type WebhookMapping = {
  /**
   * `scope`: the text that identifies the external thread. `author`: the author of the request. `text`: the request.
   */
  scope: string
  author: string
  text: string
  /** Pointers by the labels that the agent reads. */
  context: Readonly<Record<string, string>>
}

/** `authors`: the only authors whose requests reach the agent, spelled as in the payload. */
export type WebhookConfig = { mapping: WebhookMapping; authors: readonly string[] }

const mostScopeCharacters = 512
const mostTextCharacters = 100_000

const toldKinds: readonly Telling['kind'][] = ['reply', 'question', 'error', 'stopped']

export const signedWebhook: Integration<WebhookConfig> = {
  check: checkSignature,

  read(body) {
    const payload = parsePayload(body)
    return (config) => readPayload(payload, config)
  },

  callFor({ kind, ...telling }, { session, scope }) {
    if (!toldKinds.includes(kind)) return null
    const body = JSON.stringify({ type: kind, session_id: session, scope, ...telling })
    return { method: 'POST', path: '', headers: { 'content-type': 'application/json' }, body }
  },

  // A repetition does no harm, because the receiver recognises it by its id.
  searchFor: () => null,
  found: () => ({ kind: 'absent' }),
  noted: (_, { notes }) => notes,
  verdict: answerVerdict,
  reasonOf: refusalReason,
}

function readPayload(payload: unknown, { mapping, authors }: WebhookConfig): Incoming {
  if (payload === undefined) return malformed('')
  const scope = nameAt(payload, mapping.scope)
  if (scope === undefined) return malformed(mapping.scope)
  const author = nameAt(payload, mapping.author)
  if (author === undefined) return malformed(mapping.author)
  if (!authors.includes(author)) {
    return { kind: 'ignored', reason: 'stranger', field: mapping.author }
  }
  const text = valueAt(payload, mapping.text)
  if (typeof text !== 'string' || text.trim() === '' || text.length > mostTextCharacters) {
    return malformed(mapping.text)
  }
  const context = contextOf(payload, mapping.context)
  if ('kind' in context) return context
  const own = { scope, author, text: text.toWellFormed() }
  return { kind: 'message', ...own, context: context.texts, target: {} }
}

const malformed = (field: string): IgnoredDelivery => ({
  kind: 'ignored',
  reason: 'malformed',
  field,
})

function nameAt(payload: unknown, pointer: string): string | undefined {
  const value = valueAt(payload, pointer)
  const name = Number.isSafeInteger(value) ? String(value) : value
  if (typeof name !== 'string' || name === '' || name.length > mostScopeCharacters) return undefined
  // UTF-8 cannot express half of a surrogate pair, so two such names would become one in a database. Postgres stores no
  // NUL.
  return name.isWellFormed() && !name.includes('\0') ? name : undefined
}

/** A missing text becomes null. An object or a list makes the payload malformed, because a mapping names texts. */
function contextOf(
  payload: unknown,
  pointers: WebhookMapping['context'],
): { texts: IncomingMessage['context'] } | IgnoredDelivery {
  const texts: [string, string | null][] = []
  for (const [label, pointer] of Object.entries(pointers)) {
    const value = valueAt(payload, pointer) ?? null
    if (value === null) texts.push([label, null])
    else if (typeof value === 'string') texts.push([label, shortenContext(value)])
    else if (typeof value === 'object') return malformed(pointer)
    else texts.push([label, JSON.stringify(value)])
  }
  return { texts: Object.fromEntries(texts) }
}
