/** The tables whose rows are chained, and the columns that a chain covers. */
import { hash } from 'node:crypto'
import type { Tables } from '../../../ground/database/tables.ts'

type TrailTable = 'audit_lines' | 'credential_uses' | 'credential_changes' | 'secret_reads'

/** Covered columns get their values at insertion, and keep them. */
export const trailColumns = {
  audit_lines: [
    ...['id', 'created_at', 'action', 'resource_type', 'resource_id', 'parent_id', 'actor_type'],
    ...['actor_id', 'actor_name', 'credential_type', 'credential_id', 'address', 'user_agent'],
    ...['request_id', 'method', 'route', 'before_fields', 'after_fields'],
  ],
  // Status, duration and refresh are known only after the call, so they are not covered.
  credential_uses: [
    ...['id', 'created_at', 'session_id', 'vault_id', 'credential_id', 'caller', 'server'],
    ...['host', 'method'],
  ],
  credential_changes: [
    ...['id', 'created_at', 'vault_id', 'credential_id', 'model_card_id', 'change', 'api_key_id'],
    'session_id',
  ],
  secret_reads: [
    ...['id', 'created_at', 'session_id', 'vault_id', 'credential_id', 'actor_id', 'manager'],
    ...['name', 'field', 'version', 'result'],
  ],
} as const satisfies Record<TrailTable, readonly string[]>

export type Trail = TrailTable
export const auditTrails: readonly Trail[] = [
  'audit_lines',
  'credential_uses',
  'credential_changes',
  'secret_reads',
]

/** The deployment has the empty tenant and uses no credentials. */
export const trailsOf = (tenant: string): readonly Trail[] =>
  tenant === '' ? ['audit_lines'] : auditTrails

/** Trails of a control database that holds no tenant's rows. */
export const controlTrails: readonly Trail[] = ['audit_lines']

export type TrailRow = Readonly<Record<string, unknown>> & {
  id: string
  created_at: string
  seq: number | null
  hash: string | null
}

export type ChainHead = Tables['audit_heads']

/** Sorted names of the fields in the hashed text. */
const coveredNames: Readonly<Record<Trail, readonly string[]>> = {
  audit_lines: sortedNames('audit_lines'),
  credential_uses: sortedNames('credential_uses'),
  credential_changes: sortedNames('credential_changes'),
  secret_reads: sortedNames('secret_reads'),
}

function sortedNames(trail: Trail): string[] {
  return [...trailColumns[trail], 'seq', 'previous', 'tenant_id', 'trail'].toSorted()
}

/** The text that is hashed for a line. Its names are sorted, so that each program writes the same text. */
export function canonicalText(
  trail: Trail,
  tenant: string,
  row: TrailRow,
  position: { seq: number; previous: string },
): string {
  const covered: Record<string, unknown> = { ...row, ...position, tenant_id: tenant, trail }
  const values: Record<string, unknown> = {}
  for (const name of coveredNames[trail]) values[name] = covered[name] ?? null
  return JSON.stringify(values)
}

export const hashCanonical = (...given: Parameters<typeof canonicalText>): string =>
  hash('sha256', canonicalText(...given))

/** Stands for the hash before the first line of a chain. */
export const noHash = '0'.repeat(64)
