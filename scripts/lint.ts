/** Rules of this repository, which oxlint runs beside its own. */

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

// oxlint-disable-next-line import/no-default-export -- oxlint loads a plugin by its default export
export default {
  meta: { name: 'steward' },
  rules: { 'no-double-cast': noDoubleCast, 'no-root-hook': noRootHook },
}
