/** The JSON of a delivery, texts out of it, and why one is ignored. */
import type { IgnoredDelivery } from './integration.ts'

const mostContextCharacters = 20_000

/** Undefined for bytes that are no UTF-8, and for a text that is no JSON. */
export function payloadOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

export function shortened(text: string): string {
  if (text.length <= mostContextCharacters) return text.toWellFormed()
  const left = text.length - mostContextCharacters
  return `${text.slice(0, mostContextCharacters).toWellFormed()} [${left} more characters]`
}

/** `field`: its JSON pointer in the body. */
export const ignored = (reason: IgnoredDelivery['reason'], field: string): IgnoredDelivery => ({
  kind: 'ignored',
  reason,
  field,
})

/** Of an answer. The rest of a longer text stays in the session. */
export const shortenedAnswer = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}\n\n[${text.length - most} more characters]`
