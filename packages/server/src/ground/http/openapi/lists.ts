/** Lists as named components: a list of `Agent` is `AgentList`. */
import type { SchemaNode } from './schemas.ts'
import { schemaPrefix } from './schemas.ts'

const toItem = /^#\/components\/schemas\/(\w+)$/

/**
 * Replaces the schema of each answer that is a list of a component by a reference. Returns the components of these
 * lists.
 */
export function nameLists(
  operations: readonly SchemaNode[],
  components: Record<string, SchemaNode>,
): Record<string, SchemaNode> {
  const lists: Record<string, SchemaNode> = {}
  for (const media of operations.flatMap(answersOf)) {
    const item = itemOf(media.schema)
    if (item === undefined) continue
    const name = `${item}List`
    const list = { ...media.schema, description: `A page of a list; its items are \`${item}\`.` }
    if (Object.hasOwn(components, name)) continue
    const known = (lists[name] ??= list)
    if (JSON.stringify(known) === JSON.stringify(list)) media.schema = { $ref: schemaPrefix + name }
  }
  return lists
}

type Media = { schema: SchemaNode }
type Responses = Record<string, { content?: Record<string, Media> }>

const answersOf = ({ responses }: SchemaNode): Media[] =>
  Object.values(responses as Responses).flatMap(({ content = {} }) => Object.values(content))

/** The component of the list's items; undefined for a schema that is no list, or whose items have no name. */
function itemOf({ properties }: SchemaNode): string | undefined {
  const { data, has_more } = (properties ?? {}) as Record<string, { items?: { $ref?: string } }>
  return has_more && toItem.exec(data?.items?.$ref ?? '')?.[1]
}
