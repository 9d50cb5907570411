/** Converts input schemas of MCP servers into a form that every model wire accepts. */

type JsonSchema = Record<string, unknown>

/** The schema for the model, and the conversion of the model's input back into the server's form. */
export type FittedSchema = {
  schema: JsonSchema
  toServer: (input: Record<string, unknown>) => Record<string, unknown>
  /** Characters that were looked at. */
  characters: number
}

const largestSchema = 64 * 1024
const deepest = 12
const unions = ['oneOf', 'anyOf', 'allOf'] as const
/** Where null is a value. Elsewhere some servers write null for a member that is absent. */
const mayBeNull = new Set(['default', 'const'])
const schemaMaps = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const dropped = new Set(['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'])

/**
 * Resolves references, merges top-level unions into one object with the fields of all variants, and renames fields that
 * a wire refuses. A schema that is larger than `most` characters becomes any object; the server then checks the input.
 */
export function fitSchema(given: JsonSchema, most = largestSchema): FittedSchema {
  const room = Math.min(most, largestSchema)
  const budget = { left: room }
  const whole = resolved(given, given, budget, 0)
  const characters = room - Math.max(budget.left, 0)
  if (budget.left < 0)
    return { schema: { type: 'object', properties: {} }, toServer: same, characters }
  const flat = asObject(whole)
  const names = fitNames(Object.keys(flat.properties))
  const properties = Object.fromEntries(
    Object.entries(flat.properties).map(([name, value]) => [names.get(name) ?? name, value]),
  )
  const required = flat.required.map((name) => names.get(name) ?? name)
  const schema = { ...flat.rest, type: 'object', properties, required }
  const back = new Map([...names].map(([name, fit]) => [fit, name]))
  const isSame = [...names].every(([name, fit]) => name === fit)
  return {
    characters,
    schema: required.length > 0 ? schema : { ...flat.rest, type: 'object', properties },
    toServer: isSame
      ? same
      : (input) =>
          Object.fromEntries(
            Object.entries(input).map(([name, value]) => [back.get(name) ?? name, value]),
          ),
  }
}

const same = (input: Record<string, unknown>): Record<string, unknown> => input

function fitNames(all: readonly string[]): Map<string, string> {
  const taken = new Set<string>()
  const serials = new Map<string, number>()
  function fit(name: string): string {
    const base = name.replaceAll(/[^\w.-]/g, '_').slice(0, 60) || '_'
    if (!taken.has(base)) return base
    for (let serial = serials.get(base) ?? 1; ; serial++) {
      if (taken.has(`${base}_${serial}`)) continue
      serials.set(base, serial + 1)
      return `${base}_${serial}`
    }
  }
  const names = new Map<string, string>()
  for (const name of all) {
    const found = fit(name)
    taken.add(found)
    names.set(name, found)
  }
  return names
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const partsOf = (value: unknown): JsonSchema[] =>
  Array.isArray(value) ? value.filter(isSchema) : []
const namesOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []

function asObject(schema: JsonSchema): {
  properties: JsonSchema
  required: string[]
  rest: JsonSchema
} {
  const { properties: own, required, type: _type, ...others } = schema
  const rest = Object.fromEntries(
    Object.entries(others).filter(([key]) => !unions.some((union) => union === key)),
  )
  const properties = new Map(Object.entries(isSchema(own) ? own : {}))
  const wanted = new Set(namesOf(required))
  for (const union of unions) {
    for (const part of partsOf(schema[union])) {
      const inner = asObject(part)
      for (const [name, value] of Object.entries(inner.properties))
        if (!properties.has(name)) properties.set(name, value)
      if (union === 'allOf') for (const name of inner.required) wanted.add(name)
    }
  }
  const known = [...wanted].filter((name) => properties.has(name))
  // An object that merges several variants allows further fields, because a variant has only some of them.
  const isOpen = unions.some((union) => partsOf(schema[union]).length > 0)
  if (isOpen) delete rest.additionalProperties
  return { properties: Object.fromEntries(properties), required: known, rest }
}

/**
 * The schema with its internal references resolved. An endless or external reference becomes a schema that allows
 * anything. Every visited value costs budget, also an empty one, because it is visited again for each reference.
 */
function resolved(
  value: JsonSchema,
  root: JsonSchema,
  budget: { left: number },
  depth: number,
): JsonSchema {
  if (--budget.left < 0 || depth > deepest) return {}
  const { $ref: target, ...beside } = value
  if (typeof target === 'string') {
    const found = pointedAt(root, target)
    budget.left -= target.length + 1
    return found ? { ...resolved(found, root, budget, depth + 1), ...plainOf(beside) } : {}
  }
  const out: JsonSchema = {}
  for (const [key, inner] of Object.entries(value)) {
    if (depth === 0 && dropped.has(key)) continue
    if (inner === null && !mayBeNull.has(key)) continue
    if (budget.left < 0) break
    budget.left -= key.length + 1
    out[key] =
      isSchema(inner) && schemaMaps.has(key)
        ? mapped(inner, root, budget, depth)
        : inside(inner, root, budget, depth)
  }
  return out
}

/** Names with a schema each, which may be any word. A schema that is null allows anything. */
function mapped(
  given: JsonSchema,
  root: JsonSchema,
  budget: { left: number },
  depth: number,
): JsonSchema {
  const out = new Map<string, unknown>()
  if (--budget.left < 0 || depth >= deepest) return {}
  for (const [name, schema] of Object.entries(given)) {
    if (budget.left < 0) break
    budget.left -= name.length + 1
    out.set(name, inside(schema ?? {}, root, budget, depth + 1))
  }
  return Object.fromEntries(out)
}

function inside(
  value: unknown,
  root: JsonSchema,
  budget: { left: number },
  depth: number,
): unknown {
  if (Array.isArray(value)) {
    if (depth > deepest) return []
    // Each entry costs at least one: a list that is longer than the budget is not visited.
    if (--budget.left < value.length) budget.left = -1
    if (budget.left < 0) return []
    return value.map((each) => inside(each, root, budget, depth + 1))
  }
  if (isSchema(value)) return resolved(value, root, budget, depth + 1)
  budget.left -= typeof value === 'string' ? value.length : 1
  return value
}

const plainOf = ({ description, title, default: given }: JsonSchema): JsonSchema => ({
  ...(description === undefined ? {} : { description }),
  ...(title === undefined ? {} : { title }),
  ...(given === undefined ? {} : { default: given }),
})

function pointedAt(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (!reference.startsWith('#/')) return undefined
  let at: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = decoded(part)?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (key === undefined || !isSchema(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return isSchema(at) ? at : undefined
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
