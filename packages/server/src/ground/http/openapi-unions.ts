/** Unions that say which property tells their members apart. */
import type { SchemaNode } from './openapi-schemas.ts'

type Components = Record<string, SchemaNode>
type Member = { $ref: string }

const prefix = '#/components/schemas/'

/** Gives each union of components a discriminator, where `type` of each component is another constant. */
export function discriminate(components: Components): Components {
  return visit(components) as Components

  function visit(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(visit)
    const node = Object.fromEntries(
      Object.entries(value).map(([key, inner]: [string, unknown]) => [
        key,
        key === 'examples' ? inner : visit(inner),
      ]),
    )
    const mapping = mappingOf(node)
    return mapping ? { ...node, discriminator: { propertyName: 'type', mapping } } : node
  }

  function mappingOf(node: SchemaNode): Record<string, string> | undefined {
    const members = membersOf(node)
    if (!members || members.length < 2) return undefined
    const pairs = members.flatMap(({ $ref }) =>
      (typesOf($ref) ?? [null]).map((type) => [type, $ref]),
    )
    const types = new Set(pairs.map(([type]) => type))
    return types.has(null) || types.size < pairs.length ? undefined : Object.fromEntries(pairs)
  }

  /** The values of `type` that a component can have; undefined where it can be any. */
  function typesOf(ref: string): string[] | undefined {
    const component = components[ref.slice(prefix.length)] ?? {}
    const members = membersOf(component)
    if (members) {
      const types = members.map(({ $ref }) => typesOf($ref))
      return types.includes(undefined) ? undefined : types.flatMap((each) => each ?? [])
    }
    const { properties, required = [] } = component as {
      properties?: Record<string, { const?: unknown; enum?: unknown[] }>
      required?: string[]
    }
    const { const: word, enum: words = [word] } = properties?.['type'] ?? {}
    const isTold = required.includes('type') && words.every((each) => typeof each === 'string')
    return isTold ? words.map(String) : undefined
  }
}

/** The members of a union of components; undefined for any other schema. */
function membersOf({ anyOf, oneOf = anyOf }: SchemaNode): Member[] | undefined {
  const isUnion = Array.isArray(oneOf) && oneOf.every((each: object) => '$ref' in each)
  return isUnion ? (oneOf as Member[]) : undefined
}
