/**
 * Chains committed rows: numbers the rows of a trail, and gives each a hash over its columns and the hash before it.
 * Writers of rows do not chain, so they never wait for one another. The unit locks the head: of two processes, the
 * second finds the lines of the first already chained.
 */
import { serverCommand } from '@steward/base/own-command.ts'
import { iso } from '@steward/base/time.ts'
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import type { AuditKeys } from './heads.ts'
import { isSigned, signedHead } from './heads.ts'
import { lineStore } from './store.ts'
import type { ChainLink } from './trails/store.ts'
import { trailStore } from './trails/store.ts'
import type { Trail } from './trails/trails.ts'
import { controlTrails, hashCanonical, noHash } from './trails/trails.ts'

/** Lines a unit. Few, because on SQLite all other writers wait. */
const linesAtOnce = 256

class ForgedHeadError extends Error {
  override readonly name = 'ForgedHeadError'
}

type ChainDeps = {
  database: Database
  keys: AuditKeys
  now: () => number
  /** Trails of this database; all when left out. */
  some?: readonly Trail[]
}

/** Chains up to `linesAtOnce` lines of a tenant and returns their number; fewer means that none is left. */
function chainSome({ database, keys, now }: ChainDeps, tenant: string, trail: Trail) {
  return database.write(async (tx) => {
    const store = trailStore(tx)
    const head = await store.findHeadForUpdate(tenant, trail)
    // Attack: continuing a forged head would put our signature on it.
    if (head && !isSigned(keys, head))
      throw new ForgedHeadError(
        `the head of the audit chain ${trail} of ${tenant || 'the deployment'} is not signed by this server: run ${serverCommand} audit verify`,
      )
    const rows = await store.unchained(tenant, trail, linesAtOnce)
    const [first] = rows
    if (!first) return 0
    let { seq, hash } = head ?? { seq: 0, hash: noHash }
    const links = rows.map((row): ChainLink => {
      seq += 1
      hash = hashCanonical(trail, tenant, row, { seq, previous: hash })
      return { id: row.id, seq, hash }
    })
    await store.link(tenant, trail, links)
    const beginning = { first_seq: 1, first_previous_hash: noHash, begun_at: first.created_at }
    const { first_seq, first_previous_hash, begun_at } = head ?? beginning
    const ref = { tenant_id: tenant, trail, first_seq, first_previous_hash, begun_at }
    await store.putHead(signedHead(keys, { ...ref, seq, hash, updated_at: iso(now()) }))
    return rows.length
  })
}

/** Chains all lines that exist when it starts, chain by chain. Throws at the end when some chains failed. */
export async function chainAll(deps: ChainDeps): Promise<void> {
  const failures: unknown[] = []
  for (const { tenant_id: tenant, trail } of await trailStore(deps.database.read).due(deps.some))
    await collectFailure(failures, async () => {
      while ((await chainSome(deps, tenant, trail)) === linesAtOnce);
    })
  throwFailures(failures)
}

/**
 * Moves lines of workspaces from the control database to the databases of their tenants. A change in the control
 * database writes its line there, in its own unit. An interrupted move is repeated; lines that exist stay.
 */
export async function moveLines(databases: Databases): Promise<void> {
  const { control, isShared } = databases
  if (isShared) return
  const failures: unknown[] = []
  for (const { tenant_id: tenant } of await trailStore(control.read).due(controlTrails))
    if (tenant !== '')
      await collectFailure(failures, async () => {
        const database = await databases.open(tenant)
        while ((await moveSome(control, database, tenant)) === linesAtOnce);
      })
  throwFailures(failures)
}

async function moveSome(from: Database, to: Database, tenant: string): Promise<number> {
  const rows = await trailStore(from.read).waiting(tenant, linesAtOnce)
  if (rows.length === 0) return 0
  await to.write((tx) => lineStore(tx).insertNew(rows))
  const ids = rows.map(({ id }) => id)
  await from.write((tx) => lineStore(tx).remove('audit_lines', tenant, ids))
  return rows.length
}
