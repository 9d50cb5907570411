/** What is allowed in a workspace: by the operator, and by the workspace, which only narrows. */
import type { AllowLists, RuleKind } from '@steward/protocol/rules.ts'
import { ruleKinds } from '@steward/protocol/rules.ts'
import { ruleSettings } from '../../../ground/config/sections/rules.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { RuledNames, Rules } from '../../../ground/core/rules/rules.ts'
import type { CompiledLists } from './compiled-lists.ts'
import { compileLists } from './compiled-lists.ts'

/** Workspaces whose rules are in memory. */
type KnownWorkspaces = {
  peek(tenant: string): { allowed: CompiledLists } | undefined
  read(tenant: string): Promise<{ allowed: CompiledLists }>
}

const nouns: Record<RuleKind, string> = {
  mcp_servers: 'MCP server',
  models: 'model',
  webhooks: 'address of a webhook',
  images: 'image',
}

/** The operator's lists. An empty list of a setting allows everything. */
export const listsOfOperator = (given: AllowLists): AllowLists =>
  Object.fromEntries(
    ruleKinds.flatMap((kind) => {
      const patterns = given[kind] ?? []
      return patterns.length === 0 ? [] : [[kind, patterns]]
    }),
  )

export function rulesOver(known: KnownWorkspaces, given: AllowLists): Rules {
  const ofOperator = compileLists(listsOfOperator(given))

  const isListed = (lists: CompiledLists, kind: RuleKind, names: RuledNames): boolean =>
    lists[kind] === undefined || names.some(lists[kind])

  function refusalOf(own: CompiledLists, kind: RuleKind, names: RuledNames): string | undefined {
    const shown = `the ${nouns[kind]} ${names[0]}`
    if (!isListed(ofOperator, kind, names))
      return `${shown} is not allowed on this server: ${ruleSettings.allowed[kind].name} does not list it, and the operator can change that`
    if (!isListed(own, kind, names))
      return `${shown} is not allowed in this workspace: its rule ${kind} does not list it, and an owner or an admin of the workspace can change that (POST /v1/ext/rules)`
    return undefined
  }

  return {
    async check(tenant, kind, names, at) {
      const { allowed } = await known.read(tenant)
      if (ofOperator[kind] === undefined && allowed[kind] === undefined) return
      const found = typeof names === 'function' ? await names() : names
      const refused = found && refusalOf(allowed, kind, found)
      if (refused === undefined) return
      throw new PlatformError('forbidden', `${at}: ${refused}`, {
        error_code: 'not_allowed_by_rule',
        rule: kind,
      })
    },
    refusal(tenant, kind, names) {
      const there = known.peek(tenant)
      if (there) return refusalOf(there.allowed, kind, names)
      return known.read(tenant).then(({ allowed }) => refusalOf(allowed, kind, names))
    },
  }
}
