/**
 * Writes the types of an `openai` client as JSON Schemas in which no other property is allowed: `node
 * scripts/openai-schemas.ts <package> <file>`, for example `openai` or `openai-older`. Each object of that wire names
 * its type in `object`; items and events have a `type`. The conformance tests call it when a client has no schemas yet.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemasOfEntry, writeSchemaFile } from './type-schemas.ts'

/** `names`: definitions by the value of `object`; and those of the unions of items and events. */
export type OpenAISchemas = {
  objects: Record<string, string[]>
  item: string
  event: string
  definitions: Record<string, object>
}

const declaration = /^export interface (\w+) \{\n([^]*?)^\}/gm
const literal = /^ {4}object: '([\w.]+)';$/m

type FoundType = { name: string; object: string; from: string }

function typesOf(file: string, root: string): FoundType[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(declaration)].flatMap(([, name = '', body = '']) => {
    const object = literal.exec(body)?.[1]
    return object ? { name, object, from: join(root, file.slice(root.length + 1)) } : []
  })
}

/** Several types may share one word: their `type` tells them apart. */
function namesByObject(found: readonly FoundType[]): Record<string, string[]> {
  const names: Record<string, string[]> = {}
  for (const [index, { object }] of found.entries()) (names[object] ??= []).push(`answer o${index}`)
  return names
}

function schemasOf(client: string): OpenAISchemas {
  const root = join(import.meta.dirname, '../node_modules', client, 'resources/beta/agents')
  const files = globSync('**/*.d.ts', { cwd: root }).map((file) => join(root, file))
  const found = files.flatMap((file) => typesOf(file, root))
  if (found.length === 0) throw new Error(`no object of ${client} was found below ${root}`)
  const imports = found.map(
    ({ name, from }, index) =>
      `import type { ${name} as T${index} } from ${JSON.stringify(from.replace(/\.d\.ts$/, '.js'))}`,
  )
  const unions = `import type { AgentSessionItem, AgentSessionEvent } from ${JSON.stringify(join(root, 'agents.js'))}`
  const fields = found.map((_, index) => `  o${index}: T${index}`)
  const answers = [...fields, '  item: AgentSessionItem', '  event: AgentSessionEvent']
  const lines = [...imports, unions, 'export type Answers = {', ...answers, '}', '']
  const { definitions, properties } = schemasOfEntry(lines.join('\n'), false)
  const own: Record<string, object> = {}
  for (const [name, schema] of Object.entries(properties))
    own[`answer ${name}`] = typeof schema === 'object' ? schema : {}
  return {
    objects: namesByObject(found),
    item: 'answer item',
    event: 'answer event',
    definitions: { ...definitions, ...own } as Record<string, object>,
  }
}

writeSchemaFile('openai-schemas.ts', schemasOf)
