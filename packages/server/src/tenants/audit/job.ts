/** The trail of credentials is kept for as long as the operator says. */
import type { Job } from '../../ground/core/jobs.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { auditTrail } from './store.ts'

const everyMs = 60 * 60 * 1000
const rowsAtOnce = 500

export function auditJob(deps: { databases: Databases; auditMs: number; clock: Clock }): Job {
  const run = () => removeOldAudit(deps)
  return { name: 'remove old audit records', everyMs, run }
}

/** Tenant by tenant, each in the order of age. True: that was all. */
export async function removeOldAudit({
  databases,
  auditMs,
  clock,
}: {
  databases: Databases
  auditMs: number
  clock: Clock
}): Promise<boolean> {
  const before = iso(clock.now() - auditMs)
  let isAll = true
  for (const tenant of await auditTrail(databases.control.read).tenants())
    for (const table of ['credential_uses', 'credential_changes'] as const) {
      const database = await databases.open(tenant)
      // Read first: there is nothing to remove as a rule, and a write would cost a commit.
      const old = await auditTrail(database.read).before(table, tenant, before, rowsAtOnce)
      if (old.length > 0) await database.write((tx) => auditTrail(tx).remove(table, tenant, old))
      isAll &&= old.length < rowsAtOnce
    }
  return isAll
}
