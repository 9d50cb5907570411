/** Counts the structure of a JSON text in its bytes before parsing: an object costs far more memory than its text. */
import { deepestJson, longestJsonName } from '@steward/base/json-limits.ts'
import { invalid } from '../core/errors.ts'
import type { BodyLimits } from './limits.ts'
import { mostAround } from './limits.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * Takes a body piece by piece and returns the number of its values so far. Throws as soon as there are too many values
 * or escapes, or the nesting is too deep.
 */
export function structureCheck({
  values: most,
  escapes: mostEscapes = Infinity,
}: BodyLimits): (piece: Uint8Array) => number {
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
      throw invalid(`the body holds a name of more than ${longestJsonName} bytes`)
    else if (opening.has(byte)) {
      values++
      depth++
    } else if (closing.has(byte)) depth--
    if (depth > deepestJson)
      throw invalid(`the body is nested more than ${deepestJson} levels deep`)
    if (values > most) throw invalid(`the body holds more than ${most} values`)
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
      throw invalid(`the body holds more than ${mostEscapes} escapes in its texts`)
    if (around > mostAround)
      throw invalid(`the body holds more than ${mostAround} bytes outside of its texts`)
    return values
  }
}
