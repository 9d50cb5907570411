/**
 * The requests of GitHub's REST API, from the types that GitHub publishes, so that a stub refuses what GitHub would
 * refuse: an unknown path, an unknown query, a body of another form.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

type Operation = { query: Map<string, boolean>; body: ts.TypeNode | undefined }
type Route = { method: string; pattern: RegExp; parts: number; operation: string }

const nameOf = (node: ts.PropertyName | ts.Node | undefined): string =>
  node && (ts.isIdentifier(node) || ts.isStringLiteral(node)) ? node.text : ''

const membersOf = (node: ts.TypeNode | undefined): readonly ts.PropertySignature[] =>
  node && ts.isTypeLiteralNode(node) ? node.members.filter(ts.isPropertySignature) : []

const memberOf = (node: ts.TypeNode | undefined, name: string): ts.TypeNode | undefined =>
  membersOf(node).find((each) => nameOf(each.name) === name)?.type

/** The last name of `operations["issues/create"]`. */
const indexOf = (node: ts.TypeNode | undefined): string =>
  node && ts.isIndexedAccessTypeNode(node) && ts.isLiteralTypeNode(node.indexType)
    ? nameOf(node.indexType.literal)
    : ''

function readPublished(): { routes: Route[]; operations: Map<string, Operation> } {
  const path = join(import.meta.dirname, '../node_modules/@octokit/openapi-types/types.d.ts')
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  const interfaceOf = (name: string): readonly ts.PropertySignature[] =>
    source.statements
      .filter(ts.isInterfaceDeclaration)
      .filter((each) => each.name.text === name)
      .flatMap(({ members }) => members.filter(ts.isPropertySignature))
  const routes = interfaceOf('paths').flatMap(({ name, type }) => {
    const parts = nameOf(name).split(/\{[^}]+\}/)
    const escaped = parts.map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    return membersOf(type).map((each) => ({
      method: nameOf(each.name).toUpperCase(),
      pattern: new RegExp(`^${escaped.join('[^/]+')}$`),
      parts: parts.length,
      operation: indexOf(each.type),
    }))
  })
  const operations = interfaceOf('operations').map(({ name, type }) => {
    const query = membersOf(memberOf(memberOf(type, 'parameters'), 'query')).map(
      (each) => [nameOf(each.name), each.questionToken === undefined] as const,
    )
    const content = memberOf(memberOf(type, 'requestBody'), 'content')
    const operation = { query: new Map(query), body: memberOf(content, 'application/json') }
    return [nameOf(name), operation] as const
  })
  return { routes, operations: new Map(operations) }
}

/** What of a value differs from its type. Types that stand elsewhere are not compared. */
function faultsOf(value: unknown, node: ts.TypeNode, at: string): string[] {
  if (ts.isParenthesizedTypeNode(node)) return faultsOf(value, node.type, at)
  if (ts.isUnionTypeNode(node)) {
    const all = node.types.map((each) => faultsOf(value, each, at))
    return all.some((each) => each.length === 0) ? [] : (all[0] ?? [])
  }
  if (ts.isLiteralTypeNode(node)) {
    const literal = node.literal.kind === ts.SyntaxKind.NullKeyword ? null : nameOf(node.literal)
    return value === literal ? [] : [`${at}: ${JSON.stringify(value)} is not ${literal}`]
  }
  if (ts.isArrayTypeNode(node))
    return Array.isArray(value)
      ? value.flatMap((each, index) => faultsOf(each, node.elementType, `${at}[${index}]`))
      : [`${at}: is no list`]
  if (ts.isTypeLiteralNode(node)) return faultsOfObject(value, node, at)
  const expected = plainTypes.get(node.kind)
  return expected === undefined || typeof value === expected ? [] : [`${at}: is no ${expected}`]
}

const plainTypes = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.StringKeyword, 'string'],
  [ts.SyntaxKind.NumberKeyword, 'number'],
  [ts.SyntaxKind.BooleanKeyword, 'boolean'],
])

function faultsOfObject(value: unknown, node: ts.TypeLiteralNode, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at}: is no object`]
  const members = membersOf(node)
  const isOpen = members.length < node.members.length || members.length === 0
  const known = new Map(members.map((each) => [nameOf(each.name), each]))
  const unknown = Object.keys(value).filter((name) => !isOpen && !known.has(name))
  const fields = [...known].flatMap(([name, { type, questionToken }]) => {
    const given: unknown = Reflect.get(value, name)
    if (given === undefined) return questionToken ? [] : [`${at}.${name}: is missing`]
    return type ? faultsOf(given, type, `${at}.${name}`) : []
  })
  return [...unknown.map((name) => `${at}.${name}: is unknown`), ...fields]
}

let published: ReturnType<typeof readPublished> | undefined

/** What GitHub would refuse in the request. `path`: behind the base of the API, with its query. */
export function faultsOfGithubCall({
  method,
  path,
  body,
}: {
  method: string
  path: string
  body: string
}): string[] {
  published ??= readPublished()
  const { routes, operations } = published
  const { pathname, searchParams } = new URL(path, 'https://api.github.com')
  const [route] = routes
    .filter((each) => each.method === method && each.pattern.test(pathname))
    .sort((one, other) => one.parts - other.parts)
  const operation = operations.get(route?.operation ?? '')
  if (!operation) return [`${method} ${pathname}: is no request of the API`]
  const unknown = [...searchParams.keys()].filter((name) => !operation.query.has(name))
  const missing = [...operation.query].filter(
    ([name, isNeeded]) => isNeeded && !searchParams.has(name),
  )
  return [
    ...unknown.map((name) => `query ${name}: is unknown`),
    ...missing.map(([name]) => `query ${name}: is missing`),
    ...(body !== '' && operation.body ? faultsOf(JSON.parse(body), operation.body, 'body') : []),
  ]
}
