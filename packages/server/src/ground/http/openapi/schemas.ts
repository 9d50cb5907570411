/** JSON Schemas of one document. A schema with an id (`.meta({ id })`) becomes a component that uses refer to. */
import { z } from 'zod'

export type SchemaNode = Record<string, unknown>
type Direction = 'input' | 'output'
type Components = Record<string, SchemaNode>

/** A reference to a schema is this and the name of its component. */
export const schemaPrefix = '#/components/schemas/'

/** `created_at[gte]` is `CreatedAtGte`. */
export const componentName = (name: string): string =>
  name
    .split(/\W+|_/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const toDefinition = /^#\/\$defs\//
/** The name of a schema of requests, in the style of the official client. */
const inputName = (name: string): string => `${name}Params`

/**
 * `schemaOf` returns the JSON Schema of one of the given schemas. A component that differs between requests and answers
 * appears twice; the one of requests is called `…Params`.
 */
export function describeSchemas(given: Record<Direction, readonly z.ZodType[]>): {
  schemaOf: (schema: z.ZodType, direction: Direction) => SchemaNode
  components: Components
} {
  const made = { input: convert(given.input, 'input'), output: convert(given.output, 'output') }
  const differing = namesThatDiffer(made.input.definitions, made.output.definitions)
  const renamed = {
    input: (name: string) => (differing.has(name) ? inputName(name) : name),
    output: (name: string) => name,
  }
  const components: Components = {}
  for (const direction of ['input', 'output'] as const) {
    for (const [name, definition] of Object.entries(made[direction].definitions))
      components[renamed[direction](name)] = referring(definition, renamed[direction]) as SchemaNode
  }
  return {
    components: Object.fromEntries(
      Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
    schemaOf(schema, direction) {
      const found = made[direction].schemas.get(schema)
      if (!found) throw new Error('the schema is none of those that were given')
      return referring(found, renamed[direction]) as SchemaNode
    },
  }
}

/** Converts all schemas at once, so that each id has one definition. */
function convert(schemas: readonly z.ZodType[], io: Direction) {
  const each = [...new Set(schemas)]
  const all = Object.fromEntries(each.map((schema, index) => [`_${index}`, schema]))
  const { properties = {}, $defs = {} } = z.toJSONSchema(z.object(all), {
    io,
    unrepresentable: 'any',
    // The library drops examples of schemas whose input and output types differ.
    override: ({ zodSchema, jsonSchema }) => {
      const examples = z.globalRegistry.get(zodSchema)?.['examples']
      if (Array.isArray(examples)) jsonSchema.examples = examples
      // Removes default bounds of whole numbers.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  }) as { properties?: Components; $defs?: Components }
  return {
    definitions: $defs,
    schemas: new Map(each.map((schema, index) => [schema, properties[`_${index}`] ?? {}])),
  }
}

/** Names whose definitions differ, and those that refer to such a name. */
function namesThatDiffer(inputs: Components, outputs: Components): ReadonlySet<string> {
  const shared = Object.keys(inputs).filter((name) => Object.hasOwn(outputs, name))
  const text = (value: unknown) => JSON.stringify(value)
  const differing = new Set(shared.filter((name) => text(inputs[name]) !== text(outputs[name])))
  for (let before = -1; before !== differing.size;) {
    before = differing.size
    for (const name of shared)
      if (referencesIn(inputs[name]).some((other) => differing.has(other))) differing.add(name)
  }
  return differing
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === '$ref' && typeof inner === 'string'
      ? [inner.replace(toDefinition, '')]
      : referencesIn(inner),
  )
}

/** The schema with its references changed to components of the document. */
function referring(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner) => referring(inner, rename))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? schemaPrefix + rename(inner.replace(toDefinition, ''))
        : referring(inner, rename),
    ]),
  )
}
