/** How many days a workspace keeps something: what it says itself, within what the operator allows. */
import type { RetentionDays, RetentionKind } from '@steward/protocol/rules.ts'
import { retentionKinds } from '@steward/protocol/rules.ts'

/** The operator's days. An absent kind has no default, or no bound. */
export type OperatorDays = { usual: RetentionDays; most: RetentionDays }

/** Null: as long as nobody deletes it. */
export function effectiveDays(
  { usual, most }: OperatorDays,
  own: RetentionDays,
  kind: RetentionKind,
): number | null {
  const said = own[kind] === undefined ? (usual[kind] ?? null) : own[kind]
  const bound = most[kind] ?? null
  if (said === null) return bound
  return bound === null ? said : Math.min(said, bound)
}

export type DueKind = { kind: RetentionKind; days: number }

/** The kinds of which something may go, with their days. */
export const kindsToRemove = (operator: OperatorDays, own: RetentionDays): DueKind[] =>
  retentionKinds.flatMap((kind) => {
    const days = effectiveDays(operator, own, kind)
    return days === null ? [] : [{ kind, days }]
  })

export const hasDays = ({ usual, most }: OperatorDays): boolean =>
  Object.keys(usual).length + Object.keys(most).length > 0
