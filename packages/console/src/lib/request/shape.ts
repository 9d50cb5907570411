/**
 * Whether what was written has the outlines that a form can show. A check answers with the path to what has another
 * form, and undefined where nothing has. Null and what is left out always pass: a field without a value can be shown.
 */
import { words } from '../words.ts'
import type { JsonBody } from './api-call.ts'

type Path = readonly string[]
export type ShapeCheck = (value: unknown) => Path | undefined

const isNone = (value: unknown): boolean => value === null || value === undefined
const itself: Path = []

const ofType =
  (type: 'string' | 'boolean'): ShapeCheck =>
  (value) =>
    isNone(value) || typeof value === type ? undefined : itself

export const text = ofType('string')
export const flag = ofType('boolean')

const entriesOf = (value: unknown): [string, unknown][] | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : undefined

/** The first fault of some parts, each by its name. */
function firstFault(parts: Iterable<readonly [string, ShapeCheck, unknown]>): Path | undefined {
  for (const [name, check, value] of parts) {
    const fault = check(value)
    if (fault) return [name, ...fault]
  }
  return undefined
}

/** Fields that are not named are anything. `required` ones are texts. */
export const fields =
  (checks: Record<string, ShapeCheck>, required: readonly string[] = []): ShapeCheck =>
  (value) => {
    if (isNone(value)) return required.length > 0 ? itself : undefined
    const given = new Map(entriesOf(value) ?? [])
    if (!entriesOf(value)) return itself
    const missing = required.find((name) => typeof given.get(name) !== 'string')
    if (missing !== undefined) return [missing]
    return firstFault(Object.entries(checks).map(([name, check]) => [name, check, given.get(name)]))
  }

export const listOf =
  (check: ShapeCheck): ShapeCheck =>
  (value) => {
    if (isNone(value)) return undefined
    if (!Array.isArray(value)) return itself
    return firstFault(value.map((each: unknown, at) => [String(at), check, each]))
  }

export const mapOf =
  (check: ShapeCheck): ShapeCheck =>
  (value) => {
    if (isNone(value)) return undefined
    const entries = entriesOf(value)
    return entries ? firstFault(entries.map(([name, each]) => [name, check, each])) : itself
  }

/** A text, or what the check takes. Nothing else stands for it: an entry of a list has to be one of the two. */
export const textOr =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    typeof value === 'string' ? undefined : check(value)

export const optional =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    isNone(value) ? undefined : check(value)

export const anything: ShapeCheck = () => undefined

/** Undefined for a body that has the outlines; else which field has not. */
export function problemOfShape(check: ShapeCheck, body: JsonBody): string | undefined {
  const fault = check(body)
  return fault && words.request.otherForm(fault.join('.'))
}
