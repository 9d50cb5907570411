/** Parses the input of a tool call, which an untrusted endpoint may have cut off or spelled wrongly. */
import { deepestJson, longestJsonName } from '@steward/base/json-limits.ts'

/** Characters of a faulty input that is repaired. A longer one counts as empty. */
const mostRepaired = 512 * 1024

/**
 * `repair`: the library's reader of faulty JSON. Attack: it calls itself for each bracket, and a text of open brackets
 * gives it a stack overflow for each, ten microseconds for every character. And a deep value cannot be written as JSON
 * again, so that its turn would be tried for ever. So an input beyond the bounds counts as empty.
 */
export function readToolInput(text: string, repair: (json: string) => unknown): unknown {
  if (isOversized(text)) return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return text.length <= mostRepaired ? repair(text) : {}
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
