/**
 * Writes the answer types of an official client as JSON Schemas, each beside the path and the verb of its method: `node
 * scripts/client-schemas.ts <package> <file>`, for example `@anthropic-ai/sdk` or `@anthropic-ai/sdk-oldest`. The
 * conformance tests call it when a client has no schemas yet.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { schemasOfEntry, writeSchemaFile } from './type-schemas.ts'

/** The answer of a method: one value, a page of items, or a stream of events. */
export type ClientAnswer = {
  verb: string
  /** The path, with `*` for each parameter. */
  path: string
  /** True for a method of the client's beta resources. */
  isBeta: boolean
  kind: 'one' | 'page' | 'stream'
  /** The name of the answer's definition. */
  definition: string
}
export type ClientSchemas = { answers: ClientAnswer[]; definitions: Record<string, object> }

const resources =
  '{beta/,}{agents,environments,files,memory-stores,models,sessions,skills,vaults}{,/**/*}.d.ts'

const call =
  /^\s+(?<method>\w+)\([^\n]*\) \{\n(?:(?!^\s+\w+\([^\n]*\) \{$)[\s\S])*?this\._client\s*\.(?<verb>get|post|put|patch|delete|getAPIList)\((?:path )?[`'](?<path>\/v1[^`']*)[`']/gm
const declaration = /^\s+(?<method>\w+)\(.*\): (?<promise>APIPromise|PagePromise)<(?<type>.*)>;$/gm

type DeclaredAnswer = Pick<ClientAnswer, 'kind'> & { type: string }

/** The type of an answer, as its file spells it, and the kind of the answer. */
function declaredType(promise: string, type: string): DeclaredAnswer | undefined {
  if (type === 'Response') return undefined
  if (promise === 'PagePromise') return { kind: 'page', type: type.split(', ').at(-1) ?? type }
  const events = /^Stream<(.*)>$/.exec(type)?.[1]
  return events ? { kind: 'stream', type: events } : { kind: 'one', type }
}

/** The names of a union, each with the file that declares it; `null` has no file. */
function importedNames(
  type: string,
  text: string,
  file: string,
): { name: string; from?: string }[] {
  return type.split(' | ').map((part) => {
    const [space, name = part] = part.includes('.') ? part.split('.') : [undefined, part]
    if (name === 'null') return { name }
    const home = space && new RegExp(`import \\* as ${space} from "(.*)\\.js";`).exec(text)?.[1]
    return { name, from: home ? posix.join(dirname(file), home) : file.replace(/\.d\.ts$/, '') }
  })
}

type FoundAnswer = ClientAnswer & { names: ReturnType<typeof importedNames> }

function answersOf(file: string, root: string): FoundAnswer[] {
  const types = readFileSync(file, 'utf8')
  const code = readFileSync(file.replace(/\.d\.ts$/, '.mjs'), 'utf8')
  const calls = new Map([...code.matchAll(call)].map(({ groups }) => [groups?.['method'], groups]))
  return [...types.matchAll(declaration)].flatMap(({ groups }) => {
    const { method = '', promise = '', type = '' } = groups ?? {}
    const called = calls.get(method)
    const declared = declaredType(promise, type)
    if (!called || !declared) return []
    const verb = called['verb'] === 'getAPIList' ? 'get' : (called['verb'] ?? '')
    const path = (called['path'] ?? '').replace(/\?.*$/, '').replace(/\$\{[^}]*\}/g, '*')
    const isBeta = file.startsWith(join(root, 'beta'))
    const definition = `${isBeta ? 'beta ' : ''}${verb} ${path}`
    const { kind } = declared
    const names = importedNames(declared.type, types, file)
    return [{ verb, path, isBeta, kind, definition, names }]
  })
}

/** The source of a program with one type. Field `a0` of the type has the type of the first answer, and so on. */
function entryOf(found: readonly FoundAnswer[]): string {
  const imports: string[] = []
  const fields = found.map(({ names }, index) => {
    const parts = names.map(({ name, from }, part) => {
      if (from === undefined) return name
      const alias = `T${index}_${part}`
      imports.push(`import type { ${name} as ${alias} } from ${JSON.stringify(`${from}.js`)}`)
      return alias
    })
    return `  a${index}: ${parts.join(' | ')}`
  })
  return `${imports.join('\n')}\nexport type Answers = {\n${fields.join('\n')}\n}\n`
}

function schemasOf(client: string): ClientSchemas {
  const root = join(import.meta.dirname, '../node_modules', client, 'resources')
  const found = globSync(resources, { cwd: root }).flatMap((file) =>
    answersOf(join(root, file), root),
  )
  if (found.length === 0) throw new Error(`no method of ${client} was found below ${root}`)
  const { definitions, properties } = schemasOfEntry(entryOf(found), true)
  const named = found.map(({ definition }, index) => [definition, properties[`a${index}`]])
  const answers = found.map(({ names: _, ...answer }) => answer)
  return { answers, definitions: { ...definitions, ...Object.fromEntries(named) } }
}

writeSchemaFile('client-schemas.ts', schemasOf)
