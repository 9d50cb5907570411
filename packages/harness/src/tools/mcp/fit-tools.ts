/** Entries of `tools/list`, each fitted by itself: an odd entry costs no other tool. */
import { isObject, withoutNulls } from './fit-message.ts'
import type { JsonMembers } from './fit-message.ts'
import type { ListedTool } from './listed-tool.ts'

export type ToolListing = {
  tools: ListedTool[]
  /** Says for each part that cannot be used which part it is and why. */
  leftOut: string[]
}

const longestShownName = 80

/** Null counts as absent. A part that a tool can do without is dropped, with a word where it is text for the model. */
export function fitTools(entries: readonly unknown[]): ToolListing {
  const tools = new Map<string, ListedTool>()
  const leftOut: string[] = []
  for (const [index, entry] of entries.entries()) {
    const fit = fitTool(entry, index, leftOut)
    if (!fit) continue
    if (tools.has(fit.name)) leftOut.push(`${quoted(fit.name)} (it is listed again)`)
    else tools.set(fit.name, fit)
  }
  return { tools: [...tools.values()], leftOut }
}

function fitTool(entry: unknown, index: number, leftOut: string[]): ListedTool | undefined {
  if (!isObject(entry)) {
    leftOut.push(`entry ${index + 1} (it is no object)`)
    return undefined
  }
  const { name, title, description, inputSchema, annotations } = withoutNulls(entry)
  if (typeof name !== 'string' || name === '') {
    leftOut.push(`entry ${index + 1} (it has no name)`)
    return undefined
  }
  const schema = schemaOf(inputSchema)
  if (!schema) {
    leftOut.push(`${quoted(name)} (its inputSchema is not that of an object)`)
    return undefined
  }
  if (description !== undefined && typeof description !== 'string')
    leftOut.push(`the description of ${quoted(name)} (it is no text)`)
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    inputSchema: schema,
    annotations: isObject(annotations) ? annotationsOf(annotations) : undefined,
  }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, longestShownName))
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** A server that names no schema checks the input itself. */
function schemaOf(given: unknown): JsonMembers | undefined {
  if (given === undefined || given === true) return { type: 'object' }
  if (!isObject(given)) return undefined
  const { type } = given
  const isForObjects = Array.isArray(type) ? type.includes('object') : type === 'object'
  return isForObjects || typeof (type ?? undefined) !== 'string' ? given : undefined
}

const annotationsOf = (given: JsonMembers): ListedTool['annotations'] => ({
  title: textOf(given['title']),
  readOnlyHint: given['readOnlyHint'] === true,
  idempotentHint: given['idempotentHint'] === true,
})
