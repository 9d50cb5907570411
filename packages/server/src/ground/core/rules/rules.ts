/** Allow-lists as the rooms see them that name MCP servers, models, webhooks and images. */
import type { RuleKind } from '@steward/protocol/rules.ts'

/** The names of one thing. It is allowed when one of them is. The first one stands in messages. */
export type RuledNames = readonly [string, ...string[]]

export type Rules = {
  /** Throws for what is not allowed. `at`: the field that names it. Names that have to be looked up
   * are so where a list exists; undefined: nothing is named. For the door, where a wait does not matter. */
  check(
    tenant: string,
    kind: RuleKind,
    names: RuledNames | (() => Promise<RuledNames | undefined>),
    at: string,
  ): Promise<void>
  /**
   * The reason why it is not allowed, with who can change that. Undefined without a promise where nothing is listed or
   * the workspace is known: the usual case of a call that leaves.
   */
  refusal(
    tenant: string,
    kind: RuleKind,
    names: RuledNames,
  ): string | undefined | Promise<string | undefined>
}

/** Everything is allowed, as for parts that run without workspaces. */
export const noRules: Rules = { check: async () => {}, refusal: () => undefined }
