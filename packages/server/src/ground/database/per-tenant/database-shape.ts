/** Records in control whether the rows of tenants are in one database or in one each, so that servers agree. */
import { serverCommand } from '@steward/base/own-command.ts'
import type { Database, Queries } from '../database.ts'

/** `moving`: rows may be in both places, and no server starts. */
export type DatabaseShape = 'one' | 'tenants' | 'moving'

const name = 'database_shape'

const isShape = (value: string | undefined): value is DatabaseShape =>
  value === 'one' || value === 'tenants' || value === 'moving'

/** Undefined when no server has recorded a shape, as in databases of earlier versions. */
export async function readDatabaseShape({
  read,
}: Pick<Database, 'read'>): Promise<DatabaseShape | undefined> {
  const row = await read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return isShape(row?.value) ? row.value : undefined
}

export async function putShape(tx: Queries, value: DatabaseShape): Promise<void> {
  await tx.deleteFrom('settings').where('name', '=', name).execute()
  await tx.insertInto('settings').values({ name, value }).execute()
}

const command = (to: DatabaseShape): string => `${serverCommand} move-databases --to ${to}`

/** Throws an error with the command to run when the rows are not where this server would look for them. */
export async function checkShape(control: Database, wanted: 'one' | 'tenants'): Promise<void> {
  const known = await readDatabaseShape(control)
  if (known === wanted) return
  if (known === 'moving')
    throw new Error(
      `the rows of the workspaces are being moved: let \`${command(wanted)}\` end, with all servers stopped`,
    )
  const isNew = await isEmpty(control)
  if (wanted === 'one' && known === undefined && !isNew) return
  if (!isNew)
    throw new Error(
      wanted === 'tenants'
        ? `PER_TENANT_DB_ENABLED is set, and the rows of all workspaces are in one database: stop all servers and run \`${command('tenants')}\``
        : `PER_TENANT_DB_ENABLED is not set, and each workspace has a database of its own: set it, or stop all servers and run \`${command('one')}\``,
    )
  await control.write((tx) => putShape(tx, wanted))
}

async function isEmpty({ read }: Database): Promise<boolean> {
  const row = await read.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()
  return row === undefined
}
