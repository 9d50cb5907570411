/**
 * The GraphQL schema of Linear, made from the types that Linear's client publishes, so that a stub refuses what Linear
 * would refuse. The client has no schema file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { GraphQLSchema } from 'graphql'
import { buildSchema, getVariableValues, Kind, parse, validate } from 'graphql'
import ts from 'typescript'

type Fields = readonly ts.TypeElement[]

/** Every type that the client declares, by its name. */
function declaredTypes(): Map<string, ts.TypeNode | 'enum'> {
  const folder = new URL('.', import.meta.resolve('@linear/sdk'))
  const types = new Map<string, ts.TypeNode | 'enum'>()
  for (const name of readdirSync(fileURLToPath(folder)).filter((each) => each.endsWith('.d.mts'))) {
    const text = readFileSync(new URL(name, folder), 'utf8')
    for (const statement of ts.createSourceFile(name, text, ts.ScriptTarget.Latest).statements) {
      if (ts.isTypeAliasDeclaration(statement)) types.set(statement.name.text, statement.type)
      if (ts.isEnumDeclaration(statement)) types.set(statement.name.text, 'enum')
    }
  }
  return types
}

function fieldsOf(node: ts.TypeNode): Fields {
  if (ts.isTypeLiteralNode(node)) return node.members
  return ts.isIntersectionTypeNode(node) ? node.types.flatMap(fieldsOf) : []
}

const nameOf = (node: ts.Node | undefined): string =>
  node && (ts.isIdentifier(node) || ts.isStringLiteral(node)) ? node.text : ''

/** What a type of TypeScript says in the words of GraphQL. `named`: called with each type that it names. */
function graphqlType(node: ts.TypeNode, named: (name: string) => void): string {
  if (ts.isIndexedAccessTypeNode(node) && ts.isLiteralTypeNode(node.indexType)) {
    const scalar = nameOf(node.indexType.literal)
    named(`scalar ${scalar}`)
    return `${scalar}!`
  }
  if (!ts.isTypeReferenceNode(node)) throw new Error(`a type that is not read: ${node.kind}`)
  const name = nameOf(node.typeName)
  const [inner] = node.typeArguments ?? []
  if (inner && (name === 'Maybe' || name === 'InputMaybe'))
    return graphqlType(inner, named).replace(/!$/, '')
  if (inner && name === 'Array') return `[${graphqlType(inner, named)}]!`
  named(name)
  return `${name}!`
}

/** The schema of everything that can be reached from queries and mutations. */
function makeSchema(): GraphQLSchema {
  const types = declaredTypes()
  const definitions = new Map<string, string>()
  const waiting: [name: string, isInput: boolean][] = [
    ['Query', false],
    ['Mutation', false],
  ]
  const member = (owner: string, isInput: boolean, each: ts.TypeElement): string[] => {
    const name = nameOf(each.name)
    if (!ts.isPropertySignature(each) || !each.type || name === '__typename') return []
    const named = (as: boolean) => (found: string) => void waiting.push([found, as])
    const args = types.get(`${owner}${name[0]?.toUpperCase()}${name.slice(1)}Args`)
    const given =
      args === undefined || args === 'enum' || isInput
        ? []
        : fieldsOf(args).flatMap((arg) => member('', true, arg))
    const list = given.length > 0 ? `(${given.join(', ')})` : ''
    return [`${name}${list}: ${graphqlType(each.type, named(isInput))}`]
  }
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [name, isInput] = next
    if (definitions.has(name)) continue
    const node = types.get(name)
    const fields = node && node !== 'enum' ? fieldsOf(node) : []
    if (name.startsWith('scalar ')) definitions.set(name, builtIn.has(name) ? '' : name)
    // The values of enums and the members of unions are in no request of the service.
    else if (fields.length === 0) definitions.set(name, `scalar ${name}`)
    else {
      definitions.set(name, '')
      const members = fields.flatMap((each) => member(name, isInput, each))
      definitions.set(name, `${isInput ? 'input' : 'type'} ${name} { ${members.join('\n')} }`)
    }
  }
  return buildSchema([...definitions.values()].join('\n'), { assumeValid: true })
}

const builtIn = new Set(['ID', 'String', 'Boolean', 'Int', 'Float'].map((name) => `scalar ${name}`))

let schema: GraphQLSchema | undefined

/** What Linear would refuse in the document or its variables. */
export function faultsOfLinearCall(
  query: string,
  variables: { readonly [name: string]: unknown } = {},
): string[] {
  schema ??= makeSchema()
  const document = parse(query)
  const faults = validate(schema, document)
  if (faults.length > 0) return faults.map(({ message }) => message)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { errors = [] } = getVariableValues(
      schema,
      definition.variableDefinitions ?? [],
      variables,
    )
    if (errors.length > 0) return errors.map(({ message }) => message)
  }
  return []
}
