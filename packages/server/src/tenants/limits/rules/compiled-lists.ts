/** Lists of patterns, ready to be asked. */
import type { AllowLists, RuleKind } from '@steward/protocol/rules.ts'
import { ruleKinds } from '@steward/protocol/rules.ts'
import type { NameMatcher } from '../../../ground/core/rules/patterns.ts'
import { matcherOf } from '../../../ground/core/rules/patterns.ts'

/** An absent kind allows everything. */
export type CompiledLists = { readonly [Kind in RuleKind]?: NameMatcher }

export function compileLists(lists: AllowLists): CompiledLists {
  const all = ruleKinds.flatMap((kind) => {
    const patterns = lists[kind]
    return patterns === undefined ? [] : [[kind, matcherOf(kind, patterns)] as const]
  })
  return Object.fromEntries(all)
}
