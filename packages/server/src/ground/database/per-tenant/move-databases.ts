/** Moves the rows of all tenants from one database to one each, or back. A stopped move goes on with the next call. */
import { serverCommand } from '@steward/base/own-command.ts'
import type { Database, Queries } from '../database.ts'
import { movedTables } from '../tables.ts'
import type { Tables } from '../tables.ts'
import { copyTenant } from './copy-tenant.ts'
import type { RowDatabase } from './row-database.ts'
import { removeRows, readTableRows, withoutTriggers } from './tenant-rows.ts'
import type { DatabaseShape } from './database-shape.ts'
import { putShape, readDatabaseShape } from './database-shape.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'

export type MoveTarget = 'one' | 'tenants'

export type MovedDatabases = {
  control: RowDatabase
  /** The rows of the tenant's own database, which may not exist yet. */
  ofTenant(tenant: string): RowDatabase
  /** Creates the tenant's database if it is missing. */
  make(tenant: string): Promise<void>
  remove(tenant: string): Promise<void>
}

export type MoveDeps = {
  /** The control database without the check of tables, because it has rows of tenants. */
  control: Database
  databases: MovedDatabases
  now: () => number
  /** Throws while a server runs. Called once no further server can start. */
  check: () => Promise<void>
  report: (line: string) => void
}

/** `copying`: the old rows count. `cleaning`: the copies count, and the old rows are removed. */
type Move = { to: MoveTarget; step: 'copying' | 'cleaning'; after: string }

const setting = 'database_move'

async function moveOf({ read }: Database): Promise<Move | undefined> {
  const row = await read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', setting)
    .executeTakeFirst()
  if (!row) return undefined
  const [to, step, after = ''] = row.value.split(' ')
  if ((to !== 'one' && to !== 'tenants') || (step !== 'copying' && step !== 'cleaning'))
    throw new Error(`the setting ${setting} of the database has an unknown value: ${row.value}`)
  return { to, step, after }
}

async function putMove(tx: Queries, move: Move | undefined): Promise<void> {
  await tx.deleteFrom('settings').where('name', '=', setting).execute()
  if (!move) return
  const value = `${move.to} ${move.step} ${move.after}`
  await tx.insertInto('settings').values({ name: setting, value }).execute()
}

/** Moves all tenants. The caller ensures that no server runs. Returns false when there was nothing to move. */
export async function moveDatabases(deps: MoveDeps, to: MoveTarget): Promise<boolean> {
  const { control } = deps
  const known = await moveOf(control)
  if (known && known.to !== to) await giveUp(deps, known)
  const shape = (await readDatabaseShape(control)) ?? 'one'
  if (shape === to) return false
  let move = known?.to === to ? known : undefined
  if (!move) {
    move = { to, step: 'copying', after: '' }
    await begin(deps, move)
  }
  if (move.step === 'copying') {
    await eachTenant(deps, move, (tenant) => copyOne(deps, to, tenant))
    move = { to, step: 'cleaning', after: '' }
    const next = move
    await control.write((tx) => putMove(tx, next))
  }
  await eachTenant(deps, move, (tenant) => cleanOne(deps, to, tenant))
  await control.write(async (tx) => {
    await putShape(tx, to)
    await putMove(tx, undefined)
  })
  return true
}

async function begin({ control, check }: MoveDeps, move: Move): Promise<void> {
  const put = (shape: DatabaseShape, begun: Move | undefined) =>
    control.write(async (tx) => {
      await putShape(tx, shape)
      await putMove(tx, begun)
    })
  await put('moving', move)
  try {
    await check()
  } catch (error) {
    await put(move.to === 'tenants' ? 'one' : 'tenants', undefined)
    throw error
  }
}

/** Runs the work for each tenant in the order of ids, and records the last one. */
async function eachTenant(
  { control }: MoveDeps,
  { to, step, after }: Move,
  work: (tenant: string) => Promise<void>,
): Promise<void> {
  const rows = await control.read
    .selectFrom('workspaces')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .execute()
  for (const { id } of rows) {
    await work(id)
    await control.write((tx) => putMove(tx, { to, step, after: id }))
  }
}

const moved = movedTables()

/** Moves unchained audit lines from control to the tenant's database, because the copy would overwrite them. */
async function takeWaitingLines(databases: MovedDatabases, tenant: string): Promise<void> {
  await databases.control.reading((db) =>
    databases.ofTenant(tenant).writing(async (tx) => {
      for await (const rows of readTableRows(db, 'audit_lines', tenant)) {
        const waiting = rows.filter((row) => row['seq'] === null) as unknown[]
        if (waiting.length > 0)
          await tx
            .insertInto('audit_lines')
            .values(waiting as Tables['audit_lines'][])
            .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
            .execute()
      }
    }),
  )
  await databases.control.writing((tx) =>
    tx.deleteFrom('audit_lines').where('tenant_id', '=', tenant).where('seq', 'is', null).execute(),
  )
}

async function copyOne(
  { control, databases, now, report }: MoveDeps,
  to: MoveTarget,
  tenant: string,
): Promise<void> {
  const store = tenantDatabaseStore(control.read)
  if (to === 'tenants') {
    await databases.make(tenant)
    await control.write((tx) => tenantDatabaseStore(tx).add(tenant, now()))
  } else if (await store.isKnown(tenant)) await takeWaitingLines(databases, tenant)
  else return report(`${tenant}: nothing was ever kept`)
  const own = databases.ofTenant(tenant)
  const [from, target] = to === 'tenants' ? [databases.control, own] : [own, databases.control]
  const rows = await copyTenant(tenant, moved, { from, to: target })
  report(`${tenant}: ${rows} rows copied and compared`)
}

async function cleanOne({ control, databases }: MoveDeps, to: MoveTarget, tenant: string) {
  if (to === 'tenants') await removeFromControl(databases, tenant)
  else {
    await databases.remove(tenant)
    await control.write((tx) => tenantDatabaseStore(tx).remove(tenant))
  }
}

const removeFromControl = (databases: MovedDatabases, tenant: string): Promise<void> =>
  databases.control.writing((tx) =>
    withoutTriggers(tx, moved, async () => {
      for (const table of moved) await removeRows(tx, table, tenant)
    }),
  )

/** Undoes a move that has only copied, by removing the copies. */
async function giveUp(deps: MoveDeps, { to, step }: Move): Promise<void> {
  if (step === 'cleaning')
    throw new Error(
      `a move is nearly done: let \`${serverCommand} move-databases --to ${to}\` end first`,
    )
  const { control, databases, report } = deps
  // From here on copies are missing. If the removal stops, the next move copies all tenants again.
  await control.write((tx) => putMove(tx, { to, step, after: '' }))
  const rows = await control.read.selectFrom('workspaces').select('id').orderBy('id').execute()
  for (const { id } of rows) {
    if (to === 'tenants') {
      await databases.remove(id)
      await control.write((tx) => tenantDatabaseStore(tx).remove(id))
    } else if (await tenantDatabaseStore(control.read).isKnown(id)) {
      await takeWaitingLines(databases, id)
      await removeFromControl(databases, id)
    }
  }
  await control.write(async (tx) => {
    await putShape(tx, to === 'tenants' ? 'one' : 'tenants')
    await putMove(tx, undefined)
  })
  report('the move that was under way is undone')
}
