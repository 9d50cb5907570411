/** Adds discriminators to unions: the property that tells the members apart. */
import type { SchemaNode } from './schemas.ts'
import { componentName, schemaPrefix } from './schemas.ts'

type Components = Record<string, SchemaNode>
type Member = { $ref: string }

/** Gives each union of components in a part of the document a discriminator, if the constant `type` differs in each. */
export function addDiscriminators<Part extends object>(part: Part, components: Components): Part {
  return visit(part) as Part

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

  /** The possible values of `type` in a component; undefined when any value is possible. */
  function typesOf(ref: string): string[] | undefined {
    const component = components[ref.slice(schemaPrefix.length)] ?? {}
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

/**
 * Moves the members of each component that is a union into their own components, if the `type` of each is a constant:
 * `end_turn` of `StopReason` becomes `StopReasonEndTurn`. A discriminator can name only components.
 */
export function nameMembers(components: Components): Components {
  const named = { ...components }
  for (const [name, component] of Object.entries(components)) {
    const key = 'oneOf' in component ? 'oneOf' : 'anyOf'
    const members = (component[key] ?? []) as Inline[]
    const types = members.map((member) => member.properties?.type?.const)
    if (members.length < 2 || !types.every((type) => typeof type === 'string')) continue
    const names = types.map((type) => memberName(name, type))
    if (names.some((each) => Object.hasOwn(named, each))) continue
    for (const [index, member] of members.entries()) {
      const description = `\`${name}\` of type \`${types[index]}\`.`
      named[names[index] ?? ''] = { description, ...member }
    }
    named[name] = { ...component, [key]: names.map((each) => ({ $ref: schemaPrefix + each })) }
  }
  return named
}

type Inline = SchemaNode & { properties?: { type?: { const?: unknown } } }

function memberName(union: string, type: string): string {
  const [, base = union, ending = ''] = /^(.*?)(Params)?$/.exec(union) ?? []
  return base + componentName(type) + ending
}

/** The members of a union of components; undefined for any other schema. */
function membersOf({ anyOf, oneOf = anyOf }: SchemaNode): Member[] | undefined {
  const isUnion = Array.isArray(oneOf) && oneOf.every((each: object) => '$ref' in each)
  return isUnion ? (oneOf as Member[]) : undefined
}
