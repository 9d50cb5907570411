/** Lines that prove what was removed, by whom it may be: a rule of retention, or the end of a deletion. */
import type { AuditFields } from '../../ground/core/security/audited-call.ts'
import { jobCall } from '../../ground/core/security/audited-call.ts'
import { buildAuditLine } from '../../ground/database/audited-database.ts'
import type { Queries } from '../../ground/database/database.ts'
import { insertRows } from '../../ground/database/statement.ts'

type Removal = {
  action: 'retention.remove' | 'session.remove' | 'user.remove_names'
  /** The type and the id of what was removed. Without an id: several, which `facts` count. */
  type: string
  id: string | null
  /** Numbers, times and digests, and nothing of the contents. */
  facts: AuditFields
}

const actors: Record<Removal['action'], string> = {
  'retention.remove': 'retention',
  'session.remove': 'deletion',
  'user.remove_names': 'deletion',
}

/** Writes the line within the unit that removes. The chain of the workspace has it. */
export async function auditRemoval(
  tx: Queries,
  tenant: string,
  { action, type, id, facts }: Removal,
  now: number,
): Promise<void> {
  const actor = { type: actors[action], id: null, name: null }
  const change = { type, id, action, actor, before: facts, after: null, workspace: tenant }
  await insertRows(tx, 'audit_lines', [buildAuditLine(jobCall(action), change, now)])
}
