/** Changes the root secret while servers run. docs/operations.md "The root secret" */
import { systemClock } from '@steward/base/time.ts'
import type { Seal, Sealed } from '../../ground/core/security/seal.ts'
import { isUnderRoot, keyIdOf } from '../../ground/core/security/seal.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { beginRootKey, markRootKey, serversNotUnder } from '../../ground/database/root-key.ts'
import type { WorkspaceKeys } from '../../ground/database/workspace-keys.ts'
import { workspaceKeys } from '../../ground/database/workspace-keys.ts'
import type { SealedColumn } from './columns.ts'
import { controlColumns, eachSealed, sealedColumns } from './columns.ts'
import type { SealedRow } from './store.ts'
import { sealedStore } from './store.ts'

const batch = 100
/**
 * The most rounds that may find values under another key. After them a server must still be sealing under another key.
 */
const mostPasses = 20

/** Throws when a value is sealed under a root key that the seal does not have. The message tells how to mend this. */
export const checkSealed = (database: Pick<Database, 'read'>, seal: Seal): Promise<void> =>
  checkColumns(database, seal, sealedColumns)

/** The same check as `checkSealed`, for what the control database has under the root key. */
export const checkKeys = (control: Pick<Database, 'read'>, seal: Seal): Promise<void> =>
  checkColumns(control, seal, controlColumns)

async function checkColumns(
  { read }: Pick<Database, 'read'>,
  seal: Seal,
  columns: readonly SealedColumn[],
): Promise<void> {
  for (const column of columns) {
    const [row] = await sealedStore(read).elsewhere(column, seal.keyIds, { limit: 1 })
    if (row) throw strange(column, row, seal)
  }
}

function strange(column: SealedColumn, row: SealedRow, seal: Seal): Error {
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
 * Seals the keys of workspaces under the seal's own root key, and all other values under the key of their workspace.
 * The work goes in batches, and a row that somebody else changes meanwhile is left alone. At the end the database is
 * marked. Run again after a stop, the function continues where it stopped. Resolves to the number of written rows.
 * Throws when a running server seals under another key, or when no key of the seal opens a value.
 * `holders`: the databases with rows of tenants.
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
  /** True when the control database also holds rows of tenants. */
  let holdsRows = false
  for (let pass = 0; pass < mostPasses; pass++) {
    await refuseOtherServers(database, seal)
    let isElsewhere = false
    for (const column of controlColumns) written += await sealAnew(database, column, sealing)
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

async function sealAnew(
  database: Database,
  column: SealedColumn,
  {
    seal,
    keys,
    report,
  }: { seal: Seal; keys: WorkspaceKeys; report: (progress: RotationProgress) => void },
): Promise<number> {
  // Values under the root key stay in two cases: columns of the control database, and secrets of a workspace that is
  // being deleted and so has no key.
  const isOfControl = controlColumns.includes(column)
  const settled = isOfControl ? [seal.keyId] : []
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
      const own = isOfControl ? undefined : await keys.hold(row.tenant_id)
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
  column: SealedColumn,
  row: SealedRow,
  { root, own }: { root: Seal; own: Seal | undefined },
): string {
  const { tenant_id, key } = row
  const sealOne = (sealed: Sealed, name: string): Sealed => {
    if (!isUnderRoot(sealed) || (!own && keyIdOf(sealed) === root.keyId)) return sealed
    const context = column.context(tenant_id, String(key[0]), name)
    return (own ?? root).seal(root.open(sealed, context), context)
  }
  try {
    return eachSealed(column, row.value, sealOne)
  } catch (cause) {
    const which = `${column.table} ${key.join('/')} of ${tenant_id}`
    throw new Error(`${which} holds a value that does not open: delete or replace it`, { cause })
  }
}

/** Marks the database in the transaction that finds nothing under another key. */
const finished = (database: Database, seal: Seal, holdsRows: boolean): Promise<boolean> =>
  database.write(async (tx) => {
    const columns = holdsRows ? [...controlColumns, ...sealedColumns] : controlColumns
    if (await hasOthers(tx, seal, columns)) return false
    await markRootKey(tx, seal)
    return true
  })

/** Returns true when a value is sealed under another root key. */
async function hasOthers(
  tx: Queries,
  seal: Seal,
  columns: readonly SealedColumn[] = sealedColumns,
): Promise<boolean> {
  for (const column of columns) {
    const left = await sealedStore(tx).elsewhere(column, [seal.keyId], { limit: 1 })
    if (left.length > 0) return true
  }
  return false
}
