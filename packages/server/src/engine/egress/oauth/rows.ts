/** The vaults' and the audit's rows, as refreshes and records use them. */
import { auditStore } from '../../../tenants/audit/store.ts'
import type { Seal } from '../../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Databases } from '../../../ground/database/database.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { credentialStore, sealSecrets } from '../../../resources/vaults/credentials.ts'
import { openSecrets } from '../../../resources/vaults/open.ts'
import { isOAuth } from '../policy/credential.ts'
import type { UseRows } from '../inject/records.ts'
import type { OAuthRows } from './refresh.ts'
import { claimMs } from './refresh.ts'

type Deps = { databases: Databases; seal: Seal; clock: Clock }

export function oauthRows({ databases, seal, clock }: Deps): OAuthRows {
  return {
    async read(tenant, id) {
      const row = await credentialStore(databases.of(tenant).read).active(tenant, id)
      return row && isOAuth(row) ? row : undefined
    },
    open(row) {
      const { access_token, ...secrets } = openSecrets(seal, row)
      if (access_token === undefined) throw new Error(`credential ${row.id} has no access token`)
      return { ...secrets, access_token }
    },
    async claim({ tenant_id: tenant, id }, now) {
      const database = databases.of(tenant)
      const { owners, read } = database
      const holder = await credentialStore(read).refreshOwner(tenant, id)
      const dead = holder === null ? [] : await owners.dead([holder])
      const claim = { owner: owners.self, dead, now, untilMs: now + claimMs }
      return database.write((tx) => credentialStore(tx).claimRefresh(tenant, id, claim))
    },
    async release({ tenant_id: tenant, id }) {
      const database = databases.of(tenant)
      const { self } = database.owners
      await database.write((tx) => credentialStore(tx).releaseRefresh(tenant, id, self))
    },
    store(row, secrets, expires_at) {
      const { tenant_id: tenant, vault_id: vault, id: credential, revision } = row
      const sealed = sealSecrets(seal, { tenant, id: credential }, secrets)
      const next = { auth: { ...row.auth, expires_at }, sealed, now: clock.now() }
      return databases.of(tenant).write(async (tx) => {
        const at = { id: credential, revision }
        if (!(await credentialStore(tx).rotate(tenant, at, next))) return false
        const change = 'credential.refreshed'
        const by = { now: next.now, by: {} }
        await auditStore(tx).changed(tenant, { change, of: { vault, credential }, ...by })
        return true
      })
    },
  }
}

/** One line of the trail for a refresh that failed. */
export const refreshFailed = async (
  { databases, clock }: { databases: Databases; clock: Clock },
  { tenant_id: tenant, vault_id: vault, id: credential }: CredentialRow,
): Promise<void> => {
  const change = 'credential.refresh_failed'
  const row = { change, of: { vault, credential }, by: {}, now: clock.now() } as const
  await databases.of(tenant).write((tx) => auditStore(tx).changed(tenant, row))
}

type UseStart = Parameters<UseRows['begin']>[0]
type Batch = { uses: UseStart[]; write: () => Promise<void> }

/** A use that nobody waits for yet is written after so long, with all that have begun meanwhile. */
const lingerMs = 2

/** Uses that begin at the same time share one row-writing statement, and one commit. */
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
      writing = databases.of(tenant).write((tx) => auditStore(tx).begin(rows))
      // Whoever waits is told; a use that ended without an answer has nobody who does.
      writing.catch(() => undefined)
      return writing
    }
    const timer = setTimeout(() => void write(), lingerMs)
    const fresh: Batch = { uses, write }
    open.set(tenant, fresh)
    return fresh
  }

  return {
    begin(use) {
      const { uses, write } = batchOf(use.tenant)
      uses.push(use)
      return write
    },
    end: (tenant, ended) =>
      databases.of(tenant).write(async (tx) => {
        for (const { id, ...end } of ended) await auditStore(tx).end(tenant, id, end)
      }),
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
