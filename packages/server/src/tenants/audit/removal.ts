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

/** A line names who acted: the rule, or which deletion comes to its end. */
const actorOf = ({ action, facts }: Removal) =>
  action === 'retention.remove'
    ? { type: 'retention', id: String(facts['rule']), name: null }
    : { type: 'deletion', id: action, name: null }

/** Writes the line within the unit that removes. The chain of the workspace has it. */
export async function auditRemoval(
  tx: Queries,
  tenant: string,
  removal: Removal,
  now: number,
): Promise<void> {
  const { action, type, id, facts } = removal
  const actor = actorOf(removal)
  const change = { type, id, action, actor, before: facts, after: null, workspace: tenant }
  await insertRows(tx, 'audit_lines', [buildAuditLine(jobCall(action), change, now)])
}
