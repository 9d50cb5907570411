/** Entries of `tools/list`, each fitted by itself: an odd entry costs no other tool. */
import { isObject, withoutNulls } from './fit-message.ts'
import type { JsonMembers } from './fit-message.ts'
import type { ListedTool } from './listed-tool.ts'
import { longestDescription } from './listed-tool.ts'

export type ToolListing = {
  tools: ListedTool[]
  /** Says for each part that cannot be used which part it is and why. */
  leftOut: string[]
}

const [longestName, longestShownName] = [256, 80]
const mostTools = 500
/** Parts that are named; the others are counted. */
const mostNamed = 10
/** Characters of one schema, and of all that are kept while the session lasts. */
const [longestSchema, mostCharacters] = [256 * 1024, 4 * 1024 * 1024]

/**
 * Collects the tools of a list. Keeps what is used of them and no more: a server may list as much as it likes. Null counts
 * as absent. A part that a tool can do without is dropped, with a word where it is text for the model.
 */
export function listedTools() {
  const tools = new Map<string, ListedTool>()
  const named: string[] = []
  let [entries, unnamed, beyond, characters] = [0, 0, 0, 0]

  const leaveOut = (what: string) => void (named.length < mostNamed ? named.push(what) : unnamed++)

  function addEntry(entry: unknown): void {
    const fit = fitTool(entry, entries++, leaveOut)
    if (!fit) return
    if (tools.has(fit.name)) return leaveOut(`${quoted(fit.name)} (it is listed again)`)
    if (tools.size === mostTools) return void beyond++
    const { length } = JSON.stringify(fit)
    if (characters + length > mostCharacters)
      return leaveOut(`${quoted(fit.name)} (the tools before it are too long)`)
    characters += length
    tools.set(fit.name, fit)
  }

  return {
    add(page: readonly unknown[]): void {
      for (const entry of page) addEntry(entry)
    },
    isFull: () => tools.size === mostTools,
    /** `more`: what else is left out. */
    listing(more: readonly string[]): ToolListing {
      const rest = unnamed > 0 ? [`${unnamed} more`] : []
      const first = beyond > 0 ? [`${beyond} of its ${beyond + tools.size} tools`] : []
      return { tools: [...tools.values()], leftOut: [...first, ...named, ...rest, ...more] }
    },
  }
}

type LeaveOut = (what: string) => void

function fitTool(entry: unknown, index: number, leaveOut: LeaveOut): ListedTool | undefined {
  if (!isObject(entry)) {
    leaveOut(`entry ${index + 1} (it is no object)`)
    return undefined
  }
  const { name, title, description, inputSchema, annotations } = withoutNulls(entry)
  if (typeof name !== 'string' || name === '') {
    leaveOut(`entry ${index + 1} (it has no name)`)
    return undefined
  }
  if (name.length > longestName) {
    leaveOut(`${quoted(name)} (its name is longer than ${longestName} characters)`)
    return undefined
  }
  const schema = schemaOf(inputSchema)
  if (!schema) {
    leaveOut(`${quoted(name)} (its inputSchema is not that of an object)`)
    return undefined
  }
  if (description !== undefined && typeof description !== 'string')
    leaveOut(`the description of ${quoted(name)} (it is no text)`)
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    // A schema that is too long allows any object; the server then checks the input.
    inputSchema: JSON.stringify(schema).length > longestSchema ? { type: 'object' } : schema,
    annotations: isObject(annotations) ? annotationsOf(annotations) : undefined,
  }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, longestShownName))
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, longestDescription) : undefined

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
