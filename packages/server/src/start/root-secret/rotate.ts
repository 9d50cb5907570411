/** From one root secret to another while servers run. docs/operations.md "The root secret" */
import { systemClock } from '@steward/base/time.ts'
import type { Seal, Sealed } from '../../ground/core/seal.ts'
import { isUnderRoot, keyIdOf } from '../../ground/core/seal.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { beginRootKey, markRootKey, serversNotUnder } from '../../ground/database/root-key.ts'
import type { WorkspaceKeys } from '../../ground/database/workspace-keys.ts'
import { workspaceKeys } from '../../ground/database/workspace-keys.ts'
import type { SealedColumnPlace } from './columns.ts'
import { eachSealed, keyColumn, sealedColumns } from './columns.ts'
import type { SealedRow } from './store.ts'
import { sealedStore } from './store.ts'

const batch = 100
/** Passes in a row that still find something: then a server is sealing under another key. */
const mostPasses = 20

/** Throws, saying so, when anything is sealed under a root key that is not held. */
export const checkSealed = (database: Pick<Database, 'read'>, seal: Seal): Promise<void> =>
  checkColumns(database, seal, sealedColumns)

/** As `checkSealed`, for the keys of workspaces in the control database. */
export const checkKeys = (control: Pick<Database, 'read'>, seal: Seal): Promise<void> =>
  checkColumns(control, seal, [keyColumn])

async function checkColumns(
  { read }: Pick<Database, 'read'>,
  seal: Seal,
  columns: readonly SealedColumnPlace[],
): Promise<void> {
  for (const column of columns) {
    const [row] = await sealedStore(read).elsewhere(column, seal.keyIds, { limit: 1 })
    if (row) throw strange(column, row, seal)
  }
}

function strange(column: SealedColumnPlace, row: SealedRow, seal: Seal): Error {
  const ids = new Set<string>()
  eachSealed(column, row.value, (sealed) => {
    const id = keyIdOf(sealed)
    if (isUnderRoot(sealed) && !seal.keyIds.includes(id)) ids.add(id)
    return sealed
  })
  return new Error(
    `${column.table} hold values that were sealed under root key ${[...ids].join(', ')}, and this server holds ${seal.keyIds.join(', ')}: give that secret as PLATFORM_ROOT_SECRET_PREVIOUS, and run rotate-root-secret to its end`,
  )
}

export type RotationProgress = { column: string; done: number }

/**
 * `holders`: the databases with rows of tenants. Seals the keys of workspaces anew under the seal's own key, and what is not yet under the
 * key of its workspace under that, in batches, each row only if nobody has changed it meanwhile, and marks the database. Stopped anywhere, it goes on where it was when it is run again. Resolves to how many rows were
 * written; throws when a running server seals under another key, or when a value opens under no key that is held.
 */
export async function rotateRootSecret(
  database: Database,
  seal: Seal,
  report: (progress: RotationProgress) => void,
  holders: () => AsyncIterable<Database> = async function* () {
    yield database
  },
): Promise<number> {
  await checkKeys(database, seal)
  for await (const holder of holders()) await checkSealed(holder, seal)
  await refuseOtherServers(database, seal)
  await beginRootKey(database, seal)
  const keys = workspaceKeys(database, seal, systemClock)
  const sealing = { seal, keys, report }
  let written = 0
  /** Whether tenants' rows are in the database of control. */
  let holdsRows = false
  for (let pass = 0; pass < mostPasses; pass++) {
    await refuseOtherServers(database, seal)
    let isElsewhere = false
    written += await sealAnew(database, keyColumn, sealing)
    for await (const holder of holders()) {
      for (const column of sealedColumns) written += await sealAnew(holder, column, sealing)
      if (holder !== database && (await holder.write((tx) => hasOthers(tx, seal))))
        isElsewhere = true
      holdsRows ||= holder === database
    }
    if (!isElsewhere && (await finished(database, seal, holdsRows))) return written
  }
  throw new Error(
    'a server is still sealing under another key: start every server with the new PLATFORM_ROOT_SECRET, and run this again',
  )
}

async function refuseOtherServers(database: Database, seal: Seal): Promise<void> {
  const others = await serversNotUnder(database, seal.keyId)
  if (others.length === 0) return
  throw new Error(
    `${others.length} running server(s) seal under another PLATFORM_ROOT_SECRET: restart them with this one, and with the old one as PLATFORM_ROOT_SECRET_PREVIOUS, and run this again`,
  )
}

type ResealDeps = { seal: Seal; keys: WorkspaceKeys; report: (progress: RotationProgress) => void }

async function sealAnew(
  database: Database,
  column: SealedColumnPlace,
  { seal, keys, report }: ResealDeps,
): Promise<number> {
  // The root secret seals keys alone, and the secrets of a workspace that has none because it is being deleted.
  const settled = column === keyColumn ? [seal.keyId] : []
  let done = 0
  let after: SealedRow | undefined
  for (;;) {
    const rows = await sealedStore(database.read).elsewhere(column, settled, {
      after,
      limit: batch,
    })
    if (rows.length === 0) return done
    const next: { row: SealedRow; value: string }[] = []
    for (const row of rows) {
      const own = column === keyColumn ? undefined : await keys.hold(row.tenant_id)
      const value = sealedAnew(column, row, { root: seal, own })
      if (value !== row.value) next.push({ row, value })
    }
    if (next.length > 0) {
      done += await database.write(async (tx) => {
        let count = 0
        for (const { row, value } of next)
          if (await sealedStore(tx).replace(column, row, value)) count++
        return count
      })
      report({ column: `${column.table}.${column.column}`, done })
    }
    after = rows.at(-1)
  }
}

function sealedAnew(
  column: SealedColumnPlace,
  row: SealedRow,
  { root, own }: { root: Seal; own: Seal | undefined },
): string {
  const { tenant_id, key } = row
  const sealOne = (sealed: Sealed, name: string): Sealed => {
    if (!isUnderRoot(sealed) || (!own && keyIdOf(sealed) === root.keyId)) return sealed
    const place = column.place(tenant_id, String(key[0]), name)
    return (own ?? root).seal(root.open(sealed, place), place)
  }
  try {
    return eachSealed(column, row.value, sealOne)
  } catch (cause) {
    const which = `${column.table} ${key.join('/')} of ${tenant_id}`
    throw new Error(`${which} holds a value that does not open: delete or replace it`, { cause })
  }
}

/** Marked in the transaction that sees nothing left. */
const finished = (database: Database, seal: Seal, holdsRows: boolean): Promise<boolean> =>
  database.write(async (tx) => {
    const columns = holdsRows ? [keyColumn, ...sealedColumns] : [keyColumn]
    if (await hasOthers(tx, seal, columns)) return false
    await markRootKey(tx, seal)
    return true
  })

/** Whether anything is sealed under another root key. */
async function hasOthers(
  tx: Queries,
  seal: Seal,
  columns: readonly SealedColumnPlace[] = sealedColumns,
): Promise<boolean> {
  for (const column of columns) {
    const left = await sealedStore(tx).elsewhere(column, [seal.keyId], { limit: 1 })
    if (left.length > 0) return true
  }
  return false
}
