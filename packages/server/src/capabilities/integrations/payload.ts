/** The JSON of a delivery, and texts out of it. */

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
