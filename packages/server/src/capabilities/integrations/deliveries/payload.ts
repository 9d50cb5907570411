/** The JSON of a delivery, texts in it, and the reasons to ignore a delivery. */
import type { IgnoredDelivery } from '../integration.ts'

const mostContextCharacters = 20_000

/** Returns undefined for bytes that are no UTF-8 or no JSON. */
export function parsePayload(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** The JSON of the body, or of the field `payload` of a form. */
export function parseJsonOrForm(body: Uint8Array): unknown {
  const plain = parsePayload(body)
  if (plain !== undefined) return plain
  const form = new URLSearchParams(Buffer.from(body).toString('utf8')).get('payload')
  return form === null ? undefined : parsePayload(Buffer.from(form))
}

export function shortenContext(text: string): string {
  if (text.length <= mostContextCharacters) return text.toWellFormed()
  const left = text.length - mostContextCharacters
  return `${text.slice(0, mostContextCharacters).toWellFormed()} [${left} more characters]`
}

/** `field`: a JSON pointer into the body. */
export const ignoredDelivery = (
  reason: IgnoredDelivery['reason'],
  field: string,
): IgnoredDelivery => ({
  kind: 'ignored',
  reason,
  field,
})

/** The beginning of an answer. The rest of a long text stays in the session. */
export const shortenedAnswer = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}\n\n[${text.length - most} more characters]`
