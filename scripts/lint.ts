/** Rules of this repository, which oxlint runs beside its own. */
import { participles, titleWords, typeEndings } from './words.ts'

/** The parts of oxlint's plugin interface that the rules use. oxlint exports no types for them. */
type Node = { type: string; parent: Node | null }
type ImportDeclaration = { source: { value: string }; specifiers: { local: { name: string } }[] }
type CallExpression = Node & { callee: Node & { name?: string } }
type AsExpression = Node & { expression: Node & { typeAnnotation?: Node } }
type Context = { report(problem: { node: Node; message: string }): void }

const hooks = ['before', 'after', 'beforeEach', 'afterEach']
const functions = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

const isInFunction = (node: Node | null): boolean =>
  node !== null && (functions.includes(node.type) || isInFunction(node.parent))

/** A hook at the root of a file runs for every test of the process, so its failure fails all of them. */
const noRootHook = {
  create(context: Context) {
    const imported = new Set<string>()
    return {
      ImportDeclaration({ source, specifiers }: ImportDeclaration) {
        if (source.value !== 'node:test') return
        for (const { local } of specifiers) if (hooks.includes(local.name)) imported.add(local.name)
      },
      CallExpression(node: CallExpression) {
        const { name } = node.callee
        if (name === undefined || !imported.has(name) || isInFunction(node.parent)) return
        context.report({ node, message: `Move ${name}() into a describe().` })
      },
    }
  },
}

/** `x as unknown as T` claims any type for anything, and the compiler compares nothing. */
const noDoubleCast = {
  create: (context: Context) => ({
    TSAsExpression(node: AsExpression) {
      const { type, typeAnnotation } = node.expression
      if (type !== 'TSAsExpression' || typeAnnotation?.type !== 'TSUnknownKeyword') return
      context.report({ node, message: 'Give the source its type in place of `as unknown as`.' })
    },
  }),
}

type Named = Node & { name?: string; value?: unknown }
type MemberExpression = Node & { object: Node; property: Named }
type Assignment = Node & { operator: string; left: Node; right: Node }
type Annotated = Node & { typeAnnotation?: Node | null; key?: Named; name?: string }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

/** The nodes below a node. `into`: whether the nodes below one of them belong to it. */
function* nodesBelow(node: Node, into: (node: Node) => boolean = () => true): Generator<Node> {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue
    for (const each of [value].flat()) {
      if (!isNode(each)) continue
      yield each
      if (into(each)) yield* nodesBelow(each, into)
    }
  }
}

/** The name of a variable, or of the last property. */
const nameOf = (node: Node): string | undefined =>
  node.type === 'MemberExpression' ? (node as MemberExpression).property.name : (node as Named).name

const isMember = (node: Node, names: readonly string[]): boolean =>
  node.type === 'MemberExpression' && names.includes(nameOf(node) ?? '')

const namesPromise = (type: Node | null | undefined): boolean =>
  Boolean(type) &&
  [...nodesBelow(type as Node, ({ type: kind }) => kind !== 'TSFunctionType')].some(
    (each) => (each as Named).name === 'Promise' || (each as Named).name === 'PromiseLike',
  )

const promiseMethods = ['then', 'catch', 'finally']

/** Whether an expression is a promise by what stands in it; types are not known here. */
const makesPromise = (right: Node): boolean =>
  [right, ...nodesBelow(right, ({ type }) => !functions.includes(type))].some((node) => {
    if (node.type === 'ImportExpression') return true
    if (node.type === 'NewExpression') return nameOf((node as CallExpression).callee) === 'Promise'
    if (node.type !== 'CallExpression') return false
    const { callee } = node as CallExpression
    if (functions.includes(callee.type))
      return (callee as Node & { async?: boolean }).async === true
    const { object } = callee as MemberExpression
    return isMember(callee, promiseMethods) || (isNode(object) && nameOf(object) === 'Promise')
  })

/** True for `x ??= f().finally(() => (x = undefined))`, which keeps nothing. */
function forgetsItself({ left, right }: Assignment): boolean {
  if (right.type !== 'CallExpression' || !isMember((right as CallExpression).callee, ['finally']))
    return false
  return [...nodesBelow(right)].some(
    (node) =>
      node.type === 'AssignmentExpression' &&
      nameOf((node as Assignment).left) === nameOf(left) &&
      nameOf((node as Assignment).right) === 'undefined',
  )
}

/** A promise that is kept may have failed, and then fails for all who ask later. */
const noKeptPromise = {
  create(context: Context) {
    /** Names of variables and properties whose type is a promise. */
    const promises = new Set<string>()
    const found: Assignment[] = []
    const declare = ({ typeAnnotation, key, name }: Annotated) => {
      const declared = key?.name ?? name
      if (declared !== undefined && namesPromise(typeAnnotation)) promises.add(declared)
    }
    const isPromise = ({ left, right, parent }: Assignment): boolean =>
      right.type !== 'AwaitExpression' &&
      (parent?.type === 'AwaitExpression' ||
        promises.has(nameOf(left) ?? '') ||
        makesPromise(right))
    return {
      Identifier: declare,
      TSPropertySignature: declare,
      PropertyDefinition: declare,
      AssignmentExpression(node: Assignment) {
        if (node.operator === '??=' && !forgetsItself(node)) found.push(node)
      },
      'Program:exit'() {
        for (const node of found.filter(isPromise))
          context.report({
            node,
            message:
              '`??=` keeps a promise that fails: use runOnce, runTogether or runAgain of @steward/base/shared-runs.ts.',
          })
      },
    }
  },
}

/** A notice that is published by hand may come before its commit, or be forgotten. */
const noPublish = {
  create: (context: Context) => ({
    CallExpression(node: CallExpression) {
      const { object } = node.callee as MemberExpression
      if (!isMember(node.callee, ['publish']) || !isNode(object)) return
      if (!['bus', 'live'].includes(nameOf(object) ?? '')) return
      context.report({ node, message: 'Say what was committed by tx.afterCommit, in its unit.' })
    },
  }),
}

type Ranged = Node & { range: [number, number] }
type Declarator = Node & { id: Named; init: Node | null }

const isCallOf = (
  node: Node | null | undefined,
  names: readonly string[],
): node is CallExpression => {
  if (node?.type !== 'CallExpression') return false
  const { callee } = node as CallExpression
  return names.includes(nameOf(callee) ?? '')
}

const startOf = (node: Node): number => (node as Ranged).range[0]
const endOf = (node: Node): number => (node as Ranged).range[1]

/** Nodes that wait, or leave the function by an error. */
const pausing = ['AwaitExpression', 'YieldExpression', 'ThrowStatement']

/** Whether a node awaits the variable itself, alone or among others. */
function awaits(node: Node, name: string): boolean {
  if (node.type === 'AwaitExpression')
    return nameOf((node as Node & { argument: Node }).argument) === name
  if (!isCallOf(node, ['all', 'allSettled', 'race'])) return false
  const { object } = node.callee as MemberExpression
  if (!isNode(object) || nameOf(object) !== 'Promise') return false
  const given = (node as CallExpression & { arguments: Node[] }).arguments[0]
  return [given, ...((given as Node & { elements?: Node[] }).elements ?? [])].some(
    (each) =>
      each !== undefined &&
      ((each.type === 'Identifier' && nameOf(each) === name) ||
        (each.type === 'SpreadElement' &&
          nameOf((each as Node & { argument: Node }).argument) === name)),
  )
}

/** A promise that fails before anybody awaits it ends the process. */
const awaitLaterRule = {
  create(context: Context) {
    const check = (body: Node) => {
      const nodes = [...nodesBelow(body, ({ type }) => !functions.includes(type))]
      for (const node of nodes) {
        const { id, init } = node as Declarator
        if (node.type !== 'VariableDeclarator' || init?.type !== 'CallExpression') continue
        if (id.name === undefined || isCallOf(init, ['awaitLater', 'catch', 'resolve'])) continue
        const { name } = id
        const use = nodes.find((each) => startOf(each) > endOf(node) && awaits(each, name))
        if (!use) continue
        const isMany = isCallOf(init, ['map', 'flatMap', 'from'])
        const between = nodes.some(
          (each) =>
            startOf(each) > endOf(node) &&
            endOf(each) < startOf(use) &&
            (pausing.includes(each.type) || (isMany && each.type === 'CallExpression')),
        )
        if (between)
          context.report({
            node,
            message: `Nobody handles a failure of ${name} until it is awaited: begin it there, or by awaitLater() of @steward/base/await-later.ts.`,
          })
      }
    }
    return Object.fromEntries(functions.map((type) => [type, check]))
  },
}

type Calling = CallExpression & { arguments: Node[] }
type Spread = Node & { argument: Node }
type Attribute = Node & { name: Named }
type TypeDeclaration = Node & { id: Named }
type Literal = Node & { value?: unknown; quasis?: { value: { raw: string } }[] }
type Case = Node & { key: Literal; value: Node }

const isJsonParse = (node: Node): boolean => {
  if (!isCallOf(node, ['parse'])) return false
  const { object } = node.callee as MemberExpression
  return isNode(object) && nameOf(object) === 'JSON'
}

const isUnknown = (type: Node | null | undefined): boolean => type?.type === 'TSUnknownKeyword'

/** `JSON.parse(text) as T`, or a variable of type T for it, claims a shape that nobody has checked. */
const noParsedCast = {
  create(context: Context) {
    const message = 'Parse it with a schema, or read the column by its codec in ground/database.'
    return {
      TSAsExpression(node: AsExpression & { typeAnnotation?: Node }) {
        if (isJsonParse(node.expression) && !isUnknown(node.typeAnnotation))
          context.report({ node, message })
      },
      VariableDeclarator(node: Declarator) {
        const { typeAnnotation } = node.id as Annotated
        const type = (typeAnnotation as Annotated | null | undefined)?.typeAnnotation
        if (node.init && isJsonParse(node.init) && type && !isUnknown(type))
          context.report({ node, message })
      },
    }
  },
}

/** A literal that is spread in place stands there to satisfy a limit on lines. */
const noSpreadLiteral = {
  create: (context: Context) => ({
    SpreadElement(node: Spread) {
      const { argument } = node
      const isConstant =
        argument.type === 'TSAsExpression' &&
        (argument as AsExpression).expression.type === 'ArrayExpression'
      if (argument.type !== 'ObjectExpression' && !isConstant) return
      context.report({ node, message: 'Write the properties out in place of a spread literal.' })
    },
  }),
}

const typeNames = {
  create(context: Context) {
    const check = (node: TypeDeclaration) => {
      const name = nameOf(node.id) ?? ''
      if (participles.has(name))
        context.report({ node, message: `Name the thing: ClaimRequest in place of ${name}.` })
      for (const [pattern, better] of typeEndings)
        if (pattern.test(name))
          context.report({ node, message: `${name} ends in a word to avoid: ${better}.` })
    }
    return Object.fromEntries(
      ['TSTypeAliasDeclaration', 'TSInterfaceDeclaration', 'ClassDeclaration'].map((type) => [
        type,
        check,
      ]),
    )
  },
}

/** The argument with the title, by the function that takes it. */
const titleArguments: Record<string, number> = {
  ...{ describe: 0, it: 0, suite: 0, test: 0, verifies: 1 },
  ...{ check: 0, crash: 0, runCases: 0 },
}

/** The text of a literal, without what a template holds between its texts. */
const textOf = (node: Literal | undefined): string => {
  if (node?.type === 'TemplateLiteral')
    return (node.quasis ?? []).map(({ value }) => value.raw).join(' ')
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : ''
}

/** The name of the function, also of `it.skip` and `describe.only`. */
const titledCall = ({ callee }: CallExpression): string => {
  const { object } = callee as MemberExpression
  return (isMember(callee, ['only', 'skip', 'todo']) ? nameOf(object) : callee.name) ?? ''
}

/** A title is a sentence of docs/words.md: these words have no plain sense in one. */
const testTitles = {
  create(context: Context) {
    const check = (node: Literal | undefined) => {
      const text = textOf(node)
      for (const [pattern, better] of titleWords) {
        const [word] = pattern.exec(text) ?? []
        if (node && word !== undefined)
          context.report({ node, message: `Avoid "${word}" in a title: ${better}.` })
      }
    }
    return {
      CallExpression(node: Calling) {
        const index = titleArguments[titledCall(node)]
        if (index !== undefined) check(node.arguments[index] as Literal | undefined)
      },
      // The cases of a contract have their titles as keys.
      Property({ key, value }: Case) {
        if (functions.includes(value.type) && textOf(key).includes(' ')) check(key)
      },
    }
  },
}

/** A timer that repeats runs in each process, and nobody sees when it fails. */
const noInterval = {
  create: (context: Context) => ({
    CallExpression(node: Calling) {
      if (nameOf(node.callee) !== 'setInterval') return
      context.report({
        node,
        message:
          'Make it a Job (ground/core/time/jobs.ts); an idle thing belongs to a pool, a lease to keepLease.',
      })
    },
  }),
}

/** Pages and features compose components; the look lives in one place. */
const noStyle = {
  create: (context: Context) => ({
    JSXAttribute(node: Attribute) {
      if (!['className', 'style'].includes(nameOf(node.name) ?? '')) return
      context.report({
        node,
        message:
          'Let a component of packages/console/src/components do it, and show it on /console/components.',
      })
    },
  }),
}

// oxlint-disable-next-line import/no-default-export -- oxlint loads a plugin by its default export
export default {
  meta: { name: 'steward' },
  rules: {
    'await-later': awaitLaterRule,
    'no-double-cast': noDoubleCast,
    'no-interval': noInterval,
    'no-kept-promise': noKeptPromise,
    'no-parsed-cast': noParsedCast,
    'no-publish': noPublish,
    'no-root-hook': noRootHook,
    'no-spread-literal': noSpreadLiteral,
    'no-style': noStyle,
    'test-titles': testTitles,
    'type-names': typeNames,
  },
}
