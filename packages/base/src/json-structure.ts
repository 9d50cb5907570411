/** Counts the structure of a JSON text in its bytes before parsing: an object costs far more memory than its text. */
import { deepestJson, longestJsonName } from './json-limits.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

export type JsonLimits = {
  values: number
  /** Levels of nesting. Left out: as many as code may walk. */
  depth?: number
  /** Escapes in texts. */
  escapes?: number
  /** Bytes outside of texts. */
  around: number
}

/** The message continues a sentence that begins with the name of the text. */
export class JsonStructureError extends Error {}

/**
 * Takes a text piece by piece and returns the number of its values so far. Throws as soon as there are too many values
 * or escapes, the nesting is too deep or a name is too long.
 */
export function jsonStructureCheck({
  values: most,
  depth: deepest = deepestJson,
  escapes: mostEscapes = Infinity,
  around: mostAround,
}: JsonLimits): (piece: Uint8Array) => number {
  let depth = 0
  let values = 1
  let around = 0
  let escapes = 0
  let isText = false
  let isEscaped = false
  /** Bytes of the last text so far. */
  let length = 0

  /** The index after the end of a text, or after the end of the piece. */
  function skipText(piece: Uint8Array, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at]
      if (isEscaped) isEscaped = false
      else if (byte === backslash) {
        isEscaped = true
        escapes++
      } else if (byte === quote) {
        isText = false
        length += at - from
        return at + 1
      }
    }
    length += piece.length - from
    return piece.length
  }

  function count(byte: number): void {
    if (byte === comma) values++
    else if (byte === colon && length > longestJsonName)
      throw new JsonStructureError(`holds a name of more than ${longestJsonName} bytes`)
    else if (opening.has(byte)) {
      values++
      depth++
    } else if (closing.has(byte)) depth--
    if (depth > deepest) throw new JsonStructureError(`is nested more than ${deepest} levels deep`)
    if (values > most) throw new JsonStructureError(`holds more than ${most} values`)
  }

  return (piece) => {
    for (let at = 0; at < piece.length;) {
      if (isText) {
        at = skipText(piece, at)
        continue
      }
      const byte = piece[at++] ?? 0
      around++
      if (byte === quote) {
        isText = true
        length = 0
      }
      // Commas and brackets have codes from this one up; spaces and line ends have lower ones.
      else if (byte >= comma) count(byte)
    }
    if (escapes > mostEscapes)
      throw new JsonStructureError(`holds more than ${mostEscapes} escapes in its texts`)
    if (around > mostAround)
      throw new JsonStructureError(`holds more than ${mostAround} bytes outside of its texts`)
    return values
  }
}
