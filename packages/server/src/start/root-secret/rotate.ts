/** From one root secret to another while servers run. docs/operations.md "The root secret" */
import type { Seal, Sealed } from '../../ground/core/seal.ts'
import { keyIdOf } from '../../ground/core/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { beginRootKey, markRootKey, serversNotUnder } from '../../ground/database/root-key.ts'
import type { SealedColumn } from './columns.ts'
import { eachSealed, sealedColumns } from './columns.ts'
import type { SealedRow } from './store.ts'
import { sealedStore } from './store.ts'

const batch = 100
/** Passes in a row that still find something: then a server is sealing under another key. */
const mostPasses = 20

/** Throws, saying so, when anything is sealed under a key that is not held. */
export async function checkSealed({ read }: Pick<Database, 'read'>, seal: Seal): Promise<void> {
  for (const column of sealedColumns) {
    const [row] = await sealedStore(read).elsewhere(column, seal.keyIds, { limit: 1 })
    if (row) throw strange(column, row, seal)
  }
}

function strange(column: SealedColumn, row: SealedRow, seal: Seal): Error {
  const ids = new Set<string>()
  eachSealed(column, row.value, (sealed) => {
    const id = keyIdOf(sealed)
    if (!seal.keyIds.includes(id)) ids.add(id)
    return sealed
  })
  return new Error(
    `${column.table} hold values that were sealed under root key ${[...ids].join(', ')}, and this server holds ${seal.keyIds.join(', ')}: give that secret as PLATFORM_ROOT_SECRET_PREVIOUS, and run rotate-root-secret to its end`,
  )
}

export type RotationProgress = { column: string; done: number }

/**
 * Seals everything anew under the seal's own key, in batches, each row only if nobody has changed it meanwhile, and
 * marks the database. Stopped anywhere, it goes on where it was when it is run again. Resolves to how many rows were
 * written; throws when a running server seals under another key, or when a value opens under no key that is held.
 */
export async function rotateRootSecret(
  database: Database,
  seal: Seal,
  report: (progress: RotationProgress) => void,
): Promise<number> {
  await checkSealed(database, seal)
  await refuseOtherServers(database, seal)
  await beginRootKey(database, seal)
  let written = 0
  for (let pass = 0; pass < mostPasses; pass++) {
    await refuseOtherServers(database, seal)
    for (const column of sealedColumns) written += await anew(database, seal, column, report)
    if (await finished(database, seal)) return written
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

async function anew(
  database: Database,
  seal: Seal,
  column: SealedColumn,
  report: (progress: RotationProgress) => void,
): Promise<number> {
  let done = 0
  let after: SealedRow | undefined
  for (;;) {
    const rows = await sealedStore(database.read).elsewhere(column, [seal.keyId], {
      after,
      limit: batch,
    })
    if (rows.length === 0) return done
    const next = rows.map((row) => ({ row, value: sealedAnew(column, row, seal) }))
    done += await database.write(async (tx) => {
      let count = 0
      for (const { row, value } of next)
        if (await sealedStore(tx).replace(column, row, value)) count++
      return count
    })
    report({ column: `${column.table}.${column.column}`, done })
    after = rows.at(-1)
  }
}

function sealedAnew(column: SealedColumn, row: SealedRow, seal: Seal): string {
  const { tenant_id, key } = row
  const anewOne = (sealed: Sealed, name: string): Sealed => {
    const place = column.place(tenant_id, String(key[0]), name)
    return keyIdOf(sealed) === seal.keyId ? sealed : seal.seal(seal.open(sealed, place), place)
  }
  try {
    return eachSealed(column, row.value, anewOne)
  } catch (cause) {
    const which = `${column.table} ${key.join('/')} of ${tenant_id}`
    throw new Error(`${which} holds a value that does not open: delete or replace it`, { cause })
  }
}

/** Marked in the transaction that sees nothing left. */
const finished = (database: Database, seal: Seal): Promise<boolean> =>
  database.write(async (tx) => {
    for (const column of sealedColumns) {
      const left = await sealedStore(tx).elsewhere(column, [seal.keyId], { limit: 1 })
      if (left.length > 0) return false
    }
    await markRootKey(tx, seal)
    return true
  })
