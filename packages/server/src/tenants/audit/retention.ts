/** Removes audit lines older than the operator's limit: always the beginning of a chain, which its head records. */
import { iso } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import type { Ground } from '../../ground/ground.ts'
import type { AuditKeys } from './heads.ts'
import { isSigned, signedHead } from './heads.ts'
import { lineStore } from './store.ts'
import { trailStore } from './trails/store.ts'
import type { Trail } from './trails/trails.ts'
import { trailsOf } from './trails/trails.ts'
import { findHold } from '../../ground/database/holds.ts'

const rowsAtOnce = 500

/** `auditMs`: how long lines are kept. */
export type RetentionDeps = Ground & { auditMs: number; keys: AuditKeys }

/** Each call removes some lines of each tenant, oldest first. True: none is left. A failing tenant blocks no other. */
export function removeOldAudit(
  { databases, auditMs, clock, keys }: RetentionDeps,
  everyMs: number,
): () => Promise<boolean> {
  const { control, isShared } = databases
  const walk = databases.walk(everyMs)
  return async () => {
    const before = iso(clock.now() - auditMs)
    const failures: unknown[] = []
    let isAll = true
    const removeOf = (database: Database, tenant: string) =>
      collectFailure(failures, async () => {
        for (const trail of trailsOf(tenant))
          isAll = (await removeSome(database, { tenant, trail, before, keys })) && isAll
      })
    await removeOf(control, '')
    for await (const database of walk()) {
      const rows = lineStore(database.read)
      for (const tenant of await (isShared ? rows.tenants() : rows.owners()))
        await removeOf(database, tenant)
    }
    throwFailures(failures)
    return isAll
  }
}

type OldLines = { tenant: string; trail: Trail; before: string; keys: AuditKeys }

async function removeSome(
  database: Database,
  { tenant, trail, before, keys }: OldLines,
): Promise<boolean> {
  // Read first: mostly nothing is old, and a write would cost a commit.
  const old = await lineStore(database.read).before(trail, tenant, before, rowsAtOnce)
  if (old.length === 0) return true
  const unchained = old.filter(({ seq }) => seq !== null && seq < 0).map(({ id }) => id)
  return database.write(async (tx) => {
    // The lines of the deployment, and of a person who is held, name no workspace whose hold would keep them.
    if (tenant !== '' && (await findHold(tx, tenant))) return true
    if (unchained.length > 0) await lineStore(tx).remove(trail, tenant, unchained)
    const isChained = old.some(({ seq }) => seq !== null && seq > 0)
    const removed = isChained ? await removePrefix(tx, { tenant, trail, before, keys }) : 0
    return unchained.length + removed < rowsAtOnce
  })
}

/** Removes chained lines up to the first one that stays, at most `rowsAtOnce`. Returns their number. */
async function removePrefix(
  tx: Queries,
  { tenant, trail, before, keys }: OldLines,
): Promise<number> {
  const store = trailStore(tx)
  const head = await store.findHeadForUpdate(tenant, trail)
  // A damaged chain stays, so that it can be examined.
  if (!head || !isSigned(keys, head)) return 0
  const rows = await store.beginning(tenant, trail, head.first_seq, rowsAtOnce)
  const end = rows.findIndex(({ created_at: at }) => at >= before)
  const gone = end < 0 ? rows : rows.slice(0, end)
  const last = gone.at(-1)
  if (!last) return 0
  await lineStore(tx).remove(
    trail,
    tenant,
    gone.map(({ id }) => id),
  )
  const { signature: _, ...kept } = head
  const beginning = { first_seq: Number(last.seq) + 1, first_previous_hash: last.hash }
  await store.putHead(signedHead(keys, { ...kept, ...beginning }))
  return gone.length
}
