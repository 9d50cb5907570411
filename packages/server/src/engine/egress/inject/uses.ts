/** Audit rows of credential uses. The uses that begin while an insertion is under way share the next one. */
import { iso } from '@steward/base/time.ts'
import { auditStore } from '../../../tenants/audit/store.ts'
import type { Databases } from '../../../ground/database/database.ts'
import type { UseRows } from './records.ts'

type UseStart = Parameters<UseRows['begin']>[0]
type UseBatch = { uses: UseStart[]; written: Promise<void> }

export function useRows(databases: Databases): UseRows {
  /** The batch that still takes uses, by tenant. */
  const open = new Map<string, UseBatch>()
  /** The batch that was opened last, by tenant. */
  const last = new Map<string, UseBatch>()

  function batchOf(tenant: string): UseBatch {
    const known = open.get(tenant)
    if (known) return known
    const uses: UseStart[] = []
    const written = insert(tenant, uses, last.get(tenant)?.written)
    const batch = { uses, written }
    open.set(tenant, batch)
    last.set(tenant, batch)
    const settle = () => {
      if (open.get(tenant) === batch) open.delete(tenant)
      if (last.get(tenant) === batch) last.delete(tenant)
    }
    // Each call of the batch gets the error; a call that ends without an answer waits for nothing.
    written.then(settle, settle)
    return batch
  }

  async function insert(
    tenant: string,
    uses: readonly UseStart[],
    before: Promise<void> | undefined,
  ): Promise<void> {
    await before?.catch(() => undefined)
    const database = await databases.open(tenant)
    await database.writeStatement((tx) => {
      // From here on the batch is closed: SQLite calls this when it opens its group commit.
      if (open.get(tenant)?.uses === uses) open.delete(tenant)
      return auditStore(tx).begin(uses.map(rowOf))
    })
  }

  return {
    begin(use) {
      const { uses, written } = batchOf(use.tenant)
      uses.push(use)
      return written
    },
    async end(tenant, ended) {
      // A call that failed may end before its row is written.
      await last.get(tenant)?.written.catch(() => undefined)
      const database = await databases.open(tenant)
      await database.write((tx) => auditStore(tx).end(tenant, ended))
    },
    async written() {
      await Promise.allSettled([...last.values()].map(({ written }) => written))
    },
  }
}

const rowOf = ({ tenant, session, vault, credential, at, ...rest }: UseStart) => ({
  ...rest,
  tenant_id: tenant,
  session_id: session,
  vault_id: vault,
  credential_id: credential,
  created_at: iso(at),
})
