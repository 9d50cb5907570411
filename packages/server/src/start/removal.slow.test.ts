import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hourMs, minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Database, Databases } from '../ground/database/database.ts'
import { databases } from '../ground/database/fixture.ts'
import { openSchemaPerTenant, tenantShapes } from '../ground/database/per-tenant/fixture.ts'
import { schemaPerTenant } from '../ground/database/per-tenant/schema-per-tenant.ts'
import type { PostgresDatabase } from '../ground/database/postgres.ts'
import { workspaceTables } from '../ground/database/workspace-rows.ts'
import { declarationOf, tableNames, tablesIn as placedIn } from '../ground/database/tables.ts'
import type { Tables } from '../ground/database/tables.ts'
import { testGround } from '../ground/ground-fixture.ts'
import { newSession } from '../sessions/fixture.ts'
import { createContentsRemoval } from '../sessions/workspace.ts'
import { deleteWorkspace } from '../tenants/workspaces/delete.ts'
import { removeWorkspaces } from '../tenants/workspaces/job.ts'

const [gone, other] = ['wrkspc_gone', 'wrkspc_other']
const apart: readonly string[] = tableNames.filter((name) => {
  const { removed } = declarationOf(name)
  return typeof removed === 'object'
})

const tablesIn = async (database: Database) =>
  (await database.read.introspection.getTables()).filter(({ name }) => name !== 'rate_limits')

/** Inserts a row into every table that has rows of workspaces. */
async function fill(database: Database, tenant: string): Promise<void> {
  const workspace = { id: tenant, name: tenant, archived_at: iso(0), created_at: iso(0) }
  await database.write((tx) => tx.insertInto('workspaces').values(workspace).execute())
  const session = await newSession(database, 'idle', tenant)
  for (const { name, columns } of await tablesIn(database)) {
    if (['sessions', 'session_heads', ...apart].includes(name)) continue
    if (!columns.some((column) => column.name === 'tenant_id')) continue
    const needed = columns.filter(
      ({ isNullable, hasDefaultValue }) => !isNullable && !hasDefaultValue,
    )
    const values = needed.map(({ name: column, dataType }) => [
      column,
      /int/i.test(dataType) ? 0 : column === 'tenant_id' ? tenant : `${tenant}/x`,
    ])
    const row = Object.fromEntries(values) as Record<string, unknown>
    if ('session_id' in row) row['session_id'] = session
    if (name === 'long_texts') row['state'] = 'owned'
    await database.write((tx) =>
      tx
        .insertInto(name as 'settings')
        .values(row as never)
        .execute(),
    )
  }
}

/** Counts the rows of each table that name the workspace. */
async function rowsOf(database: Database, tenant: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name } of await tablesIn(database)) {
    const rows = await database.read
      .selectFrom(name as 'settings')
      .selectAll()
      .execute()
    const found = rows.filter((row) => JSON.stringify(row).includes(tenant))
    if (found.length > 0) counts[name] = found.length
  }
  return counts
}

/** The database of a process that is killed before its nth commit. */
function killedBefore(database: Database, nth: number): Database {
  let commits = 0
  const count = () => {
    commits += 1
    if (commits >= nth) throw new Error('killed')
  }
  return {
    ...database,
    read: database.read,
    owners: database.owners,
    async write(unit) {
      count()
      return database.write(unit)
    },
    async writeStatement(unit) {
      count()
      return database.writeStatement(unit)
    },
  }
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`deleted workspaces on ${dialect}`, () => {
    it('have rows in control in no table but those that the removal knows', async () => {
      await using opened = await open()
      const known = [...workspaceTables('control'), ...apart]
      const found = (await tablesIn(opened.database)).filter(({ columns }) =>
        columns.some(({ name }) => name === 'tenant_id'),
      )
      const own: readonly string[] = placedIn('tenant')
      assert.deepEqual(
        found.flatMap(({ name }) => (own.includes(name) ? [] : name)).toSorted(),
        known.toSorted(),
        'say in the declaration of the new table how its rows go with their workspace',
      )
    })

    it('keep no row wherever a process is killed, not even rows that came late, and no other is touched', async () => {
      await using opened = await open()
      const { database } = opened
      for (const tenant of [gone, other]) await fill(database, tenant)
      const before = await rowsOf(database, other)
      let now = 0
      await database.write((tx) => deleteWorkspace(tx, { id: gone, confirm: gone, now }))
      const clock = { ...systemClock, now: () => now }
      const emptied: string[] = []
      const failures: unknown[] = []
      const log = {
        ...console,
        error: (_: string, { error }: Record<string, unknown> = {}) => failures.push(error),
      }
      async function start(killed: Database): Promise<void> {
        const deps = testGround(killed, { clock })
        const blobs = { deleteBelow: async (prefix: string) => emptied.push(prefix) > 0 }
        const run = removeWorkspaces({
          ...deps,
          log: { ...log, debug() {}, info() {}, warn() {} },
          ...createContentsRemoval({ ...deps, blobs: blobs as never }),
          removeHere: async () => {},
        })
        for (let part = 0; part < 4; part++) {
          await run()
          now += 30_000
          // Stands for a runner that removed the folder of the session.
          await database.write((tx) => tx.updateTable('session_heads').set({ due: 0 }).execute())
        }
      }
      let nth = 1
      do {
        failures.length = 0
        await start(killedBefore(database, nth++))
      } while (failures.length > 0)
      assert.ok(nth > 5, `killed ${nth} times`)
      assert.deepEqual(await rowsOf(database, gone), { workspace_removals: 1 })
      assert.deepEqual(await rowsOf(database, other), before)
      assert.ok(emptied.includes(`files/${gone}/`))
      assert.ok(emptied.every((prefix) => prefix.endsWith(`/${gone}/`)))

      const late: Pick<Tables['loose_blobs'], 'tenant_id' | 'blob_key' | 'due_ms'> = {
        tenant_id: gone,
        blob_key: `files/${gone}/late`,
        due_ms: 0,
      }
      await database.write((tx) => tx.insertInto('loose_blobs').values(late).execute())
      now += 10 * minuteMs
      await start(database)
      assert.deepEqual(await rowsOf(database, gone), { workspace_removals: 1 })
      for (const pause of [hourMs, 25 * hourMs]) {
        now += pause
        await start(database)
      }
      assert.deepEqual(await rowsOf(database, gone), {})
      assert.deepEqual(await rowsOf(database, other), before)
    })
  })
}

function runnerOf(tenants: Databases, clock: Clock) {
  const log = { debug() {}, info() {}, warn() {}, error: (text: string) => assert.fail(text) }
  const deps = testGround(tenants, { clock })
  return removeWorkspaces({
    ...deps,
    log,
    ...createContentsRemoval({ ...deps, blobs: { deleteBelow: async () => true } as never }),
    removeHere: async () => {},
  })
}

const markArchived = (control: Database) =>
  control.write((tx) => tx.updateTable('workspaces').set({ archived_at: '' }).execute())

for (const [shape, open] of Object.entries(tenantShapes)) {
  describe(`deleted workspaces that have their database as ${shape}`, () => {
    it('go with it, or without one where nobody has used them', async () => {
      await using at = await open([gone, other])
      const { databases: tenants } = at
      const { control } = tenants
      await tenants.open(other)
      await markArchived(control)
      for (const id of [gone, other])
        await control.write((tx) => deleteWorkspace(tx, { id, confirm: id, now: 0 }))
      let now = 0
      const run = runnerOf(tenants, { ...systemClock, now: () => now })
      for (let part = 0; part < 3; part++) {
        await run()
        now += 30_000
      }
      const left = control.read.selectFrom('workspaces').select('id')
      assert.deepEqual(await left.execute(), [])
      assert.deepEqual(await tenants.every(), [])
      assert.deepEqual(at.errors, [])
      for (const id of [gone, other])
        await assert.rejects(tenants.open(id), { kind: 'unauthorized' })
    })
  })
}

describe('a process whose workspace another process has removed', () => {
  it('has its database open no more', async () => {
    await using at = await openSchemaPerTenant([gone])
    const control = at.databases.control as PostgresDatabase
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const elsewhere = schemaPerTenant({ control, postgres: control, clock: systemClock, log })
    await elsewhere.open(gone)
    await markArchived(control)
    await control.write((tx) => deleteWorkspace(tx, { id: gone, confirm: gone, now: 0 }))
    let now = 0
    const clock = { ...systemClock, now: () => now }
    const [run, runElsewhere] = [runnerOf(at.databases, clock), runnerOf(elsewhere, clock)]
    for (let part = 0; part < 3; part++) {
      await run()
      now += 10_000
    }
    await runElsewhere()
    await assert.rejects(elsewhere.open(gone), { kind: 'unauthorized' })
  })
})
