/** Audit rows of credential uses: one statement and one commit for all uses that start at the same time. */
import { iso } from '@steward/base/time.ts'
import { auditStore } from '../../../tenants/audit/store.ts'
import type { Databases } from '../../../ground/database/database.ts'
import type { UseRows } from './records.ts'

type UseStart = Parameters<UseRows['begin']>[0]
type Batch = { uses: UseStart[]; write: () => Promise<void> }

/** A use that nothing waits for is written after this time, with all uses that started meanwhile. */
const lingerMs = 2

export function useRows(databases: Databases): UseRows {
  const open = new Map<string, Batch>()

  function batchOf(tenant: string): Batch {
    const known = open.get(tenant)
    if (known) return known
    const uses: UseStart[] = []
    let writing: Promise<void> | undefined
    const write = (): Promise<void> => {
      if (writing) return writing
      clearTimeout(timer)
      open.delete(tenant)
      const rows = uses.map(rowOf)
      writing = insert(tenant, rows)
      // The waiting call gets the error. A use without an answer has no waiting call.
      writing.catch(() => undefined)
      return writing
    }
    const timer = setTimeout(() => void write(), lingerMs)
    const fresh: Batch = { uses, write }
    open.set(tenant, fresh)
    return fresh
  }

  async function insert(tenant: string, rows: ReturnType<typeof rowOf>[]): Promise<void> {
    const database = await databases.open(tenant)
    await database.write((tx) => auditStore(tx).begin(rows))
  }

  return {
    begin(use) {
      const { uses, write } = batchOf(use.tenant)
      uses.push(use)
      return write
    },
    async end(tenant, ended) {
      const database = await databases.open(tenant)
      await database.write(async (tx) => {
        for (const { id, ...end } of ended) await auditStore(tx).end(tenant, id, end)
      })
    },
    async written() {
      await Promise.allSettled([...open.values()].map(({ write }) => write()))
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
