/**
 * Reads the input of a tool call, which an untrusted endpoint may have cut off or spelled wrongly. Nothing half-read is
 * run: an input that is not whole has a fault and no content.
 */
import { deepestJson, longestJsonName } from '@steward/base/json-limits.ts'
import { isRecord } from './fit/loose.ts'
import { mendedJson } from './mended-json.ts'
import { wellFormed } from './well-formed.ts'

/** `fault`: the reason why the input is not whole, for the model that wrote it. */
export type ReadInput = { input: Record<string, unknown>; fault?: string }

const faulty = (fault: string): ReadInput => ({ input: {}, fault })

/**
 * Attack: a deep value cannot be written as JSON again, so that its turn would be tried for ever. So an input beyond the
 * bounds is a fault.
 */
export function readToolInput(text: string): ReadInput {
  if (isOversized(text)) {
    return faulty(
      `it is nested deeper than ${deepestJson}, or has a name of more than ${longestJsonName} characters`,
    )
  }
  return readOnce(text, true)
}

/** `mayQuote`: the text may be JSON that is quoted as a text of JSON. */
function readOnce(text: string, mayQuote: boolean): ReadInput {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null') return { input: {} }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const mended = mendedJson(text)
    if (!mended.ok) return faulty(mended.why)
    const [, another] = /^[^{]*(\{[^]*)$/.exec(mended.rest) ?? []
    if (another !== undefined && !isSame(another, mended.value))
      return faulty('another object stands behind it')
    ;({ value } = mended)
  }
  if (typeof value === 'string' && mayQuote && !isOversized(value)) return readOnce(value, false)
  const fitted = wellFormed(value)
  return isRecord(fitted) ? { input: fitted } : faulty('it is no object')
}

function isSame(text: string, value: unknown): boolean {
  const again = mendedJson(text)
  return again.ok && JSON.stringify(again.value) === JSON.stringify(value)
}

/** Brackets within strings do not count. */
function isOversized(text: string): boolean {
  let depth = 0
  let isString = false
  let begin = 0
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '"') {
      if (isString) length = at - begin
      else begin = at + 1
      isString = !isString
    } else if (isString) continue
    else if (character === ':' && length > longestJsonName) return true
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1)
    if (depth > deepestJson) return true
  }
  return false
}
