/** Reads JSON that is spelled wrongly. Only faults are mended whose mending adds and drops nothing. */
import { objectEnd } from './fit/object-end.ts'

/** `rest`: what stands behind the value. `why`: the fault, for the model that wrote the text. */
export type MendedJson = { ok: true; value: unknown; rest: string } | { ok: false; why: string }

const opening = /^\s*(```\w*\s*)?/
const controlNames: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A text that begins with an object or list, whose strings may hold raw control characters and unknown escapes. */
export function mendedJson(text: string): MendedJson {
  const from = opening.exec(text)?.[0].length ?? 0
  const first = text[from]
  if (first !== '{' && first !== '[') return { ok: false, why: 'it does not begin with an object' }
  const end = objectEnd()
  const length = end.read(from === 0 ? text : text.slice(from))
  if (length === undefined) return { ok: false, why: 'it ends before its object is closed' }
  const whole = text.slice(from, from + length)
  try {
    return { ok: true, value: JSON.parse(spelled(whole)), rest: text.slice(from + length) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { ok: false, why: error.message }
  }
}

/** Strings of JSON; a quote outside of a string always begins one. */
const strings = /"(?:[^"\\]|\\[^])*"/g

function spelled(json: string): string {
  return json.replace(strings, (string) =>
    string
      .replace(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\/g, (escape) =>
        escape === '\\' ? '\\\\' : escape,
      )
      // oxlint-disable-next-line no-control-regex -- these are the characters to mend
      .replace(/[\u0000-\u001f]/g, (control) => controlNames[control] ?? escapedUnit(control)),
  )
}

const escapedUnit = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
