import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { usualPostgresLimits } from '../../core/postgres-client.ts'
import type { Database, Queries } from '../database.ts'
import { createSqliteFile, newPostgresUrl } from '../fixture.ts'
import { postgresDatabase } from '../postgres.ts'
import { sqliteDatabase } from '../sqlite.ts'
import { migrationNames } from '../migrate.ts'
import { tablesIn } from '../tables.ts'
import { checkBackup, restoreRows, restoreWorkspace, writeBackup } from './backup.ts'
import { addWorkspace, putVault } from './fixture.ts'
import type { MoveDeps, MovedDatabases } from './move-databases.ts'
import { moveDatabases } from './move-databases.ts'
import { postgresRows, sqliteRows } from './row-database.ts'
import { sumTableRows } from './tenant-rows.ts'
import { schemaNameOf } from './schema-per-tenant.ts'
import { readDatabaseShape } from './database-shape.ts'
import { tenantFiles } from './tenant-files.ts'

const tenants = ['wrkspc_a', 'wrkspc_b', 'wrkspc_c']
const tables = tablesIn('tenant')
const key = Buffer.alloc(32, 1)

type Deployment = AsyncDisposable & { control: Database; databases: MovedDatabases; folder: string }

async function onSqlite(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const path = await createSqliteFile(folder)
  const control = await sqliteDatabase(path)
  const files = tenantFiles(join(folder, 'tenants'), control.owners)
  await files.begin()
  return {
    control,
    folder,
    databases: {
      control: sqliteRows(path),
      ofTenant: (tenant) => sqliteRows(files.pathOf(tenant)),
      make: async (tenant) => {
        if (!files.isThere(tenant)) await files.make(tenant)
      },
      remove: (tenant) => files.remove(tenant),
    },
    async [Symbol.asyncDispose]() {
      await control.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function onPostgres(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const url = await newPostgresUrl()
  const control = await postgresDatabase(url)
  const databaseOf = (schema: string | undefined) =>
    postgresRows({ url, limits: usualPostgresLimits, schema })
  return {
    control,
    folder,
    databases: {
      control: databaseOf(undefined),
      ofTenant: (tenant) => databaseOf(schemaNameOf(tenant)),
      make: (tenant) => control.schema(schemaNameOf(tenant)).migrate(),
      remove: (tenant) => control.schema(schemaNameOf(tenant)).drop(),
    },
    async [Symbol.asyncDispose]() {
      await control.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Inserts rows into several tables: more rows than one copy step takes, and rows that triggers count. */
async function fill({ control }: Deployment): Promise<void> {
  for (const tenant of tenants) {
    await addWorkspace(control, tenant)
    for (let n = 0; n < 3; n++) await putVault(control, tenant, `vlt_${n}`)
    await control.write(async (tx) => {
      const values = Array.from(
        { length: 120 },
        (_, n) => sql`(${tenant}, ${`sesn_${tenant}`}, ${`sevt_${n}`}, ${n},
        ${`snow ☃ ' " \\ ${n}`})`,
      )
      await sql`insert into long_text_pieces (tenant_id, session_id, event_id, piece, text)
        values ${sql.join(values.map((value) => value))}`.execute(tx)
      await sql`insert into agents (tenant_id, id, version, config, created_at, updated_at)
        values (${tenant}, 'agent_1', 1, '{"name":"a"}', 'then', 'then')`.execute(tx)
      await putLine(tx, tenant, 'first', 1)
    })
  }
}

const putLine = (tx: Queries, tenant: string, id: string, seq: number | null) =>
  sql`insert into audit_lines
    (tenant_id, id, action, resource_type, actor_type, credential_type, created_at, seq)
    values (${tenant}, ${id}, 'a', 'vault', 'api_key', 'api_key', 'then', ${seq})`.execute(tx)

const putKey = (tx: Queries, id: string) =>
  sql`insert into api_keys (tenant_id, id, kind, name, admin, hash, preview, created_at)
    values ('wrkspc_a', ${id}, 'workspace', 'k', 0, ${id}, '', 'then')`.execute(tx)

const linesIn = async ({ control }: Deployment): Promise<string[]> => {
  const lines = await control.read
    .selectFrom('audit_lines')
    .select('id')
    .where('tenant_id', '=', 'wrkspc_b')
    .orderBy('id')
    .execute()
  return lines.map(({ id }) => id)
}

const sumsIn = (rows: MovedDatabases['control'], tenant: string) =>
  rows.reading((db) => sumTableRows(db, tables, tenant))

const depsOf = (
  { control, databases: hosts }: Deployment,
  more: Partial<MoveDeps> = {},
): MoveDeps => ({
  control,
  databases: hosts,
  now: () => 0,
  check: async () => {},
  report: () => {},
  ...more,
})

for (const [dialect, deploy] of Object.entries({ sqlite: onSqlite, postgres: onPostgres })) {
  describe(`moving the rows of workspaces on ${dialect}`, () => {
    it('keeps every row, there and back, and removes each row from the database that it was in', async () => {
      await using at = await deploy()
      await fill(at)
      const before = await sumsIn(at.databases.control, 'wrkspc_b')
      const counted = dialect === 'sqlite' ? before.quota_use : before.quota_changes
      assert.equal(counted?.rows, 1)
      assert.equal(await moveDatabases(depsOf(at), 'tenants'), true)
      assert.equal(await readDatabaseShape(at.control), 'tenants')
      assert.deepEqual(await sumsIn(at.databases.ofTenant('wrkspc_b'), 'wrkspc_b'), before)
      const left = await sumsIn(at.databases.control, 'wrkspc_b')
      assert.ok(Object.values(left).every(({ rows }) => rows === 0))
      assert.equal(await moveDatabases(depsOf(at), 'tenants'), false)
      assert.deepEqual(await linesIn(at), [])
      await at.control.write((tx) => putLine(tx, 'wrkspc_b', 'waits', null))
      assert.equal(await moveDatabases(depsOf(at), 'one'), true)
      assert.deepEqual(await sumsIn(at.databases.control, 'wrkspc_b'), before)
      assert.equal(await readDatabaseShape(at.control), 'one')
      assert.deepEqual(await linesIn(at), ['first', 'waits'])
      assert.deepEqual(
        await at.control.read.selectFrom('tenant_databases').selectAll().execute(),
        [],
      )
    })

    it('goes on where it was stopped, whichever step that was', async () => {
      await using at = await deploy()
      await fill(at)
      const before = await sumsIn(at.databases.control, 'wrkspc_c')
      for (const to of ['tenants', 'one'] as const) {
        let steps = 0
        let isDone = false
        // Each run stops one write to control later than the run before it.
        for (let allowed = 1; !isDone; allowed++) {
          steps = 0
          const control: Database = {
            ...at.control,
            write: (unit) =>
              steps++ < allowed ? at.control.write(unit) : Promise.reject(new Error('stopped')),
          }
          isDone = await moveDatabases(depsOf(at, { control }), to).catch((error: unknown) => {
            assert.match(String(error), /stopped/)
            return false
          })
          assert.ok(allowed < 30)
        }
        const rows = to === 'tenants' ? at.databases.ofTenant('wrkspc_c') : at.databases.control
        assert.deepEqual(await sumsIn(rows, 'wrkspc_c'), before)
      }
    })

    it('is undone by the way back while it has only copied', async () => {
      await using at = await deploy()
      await fill(at)
      const before = await sumsIn(at.databases.control, 'wrkspc_a')
      let copied = 0
      const databases = {
        ...at.databases,
        make: async (tenant: string) => {
          if (++copied > 1) throw new Error('stopped')
          await at.databases.make(tenant)
        },
      }
      await assert.rejects(moveDatabases(depsOf(at, { databases }), 'tenants'), /stopped/)
      assert.equal(await readDatabaseShape(at.control), 'moving')
      assert.equal(await moveDatabases(depsOf(at), 'one'), false)
      assert.equal(await readDatabaseShape(at.control), 'one')
      assert.deepEqual(await sumsIn(at.databases.control, 'wrkspc_a'), before)
    })

    it('loses nothing where the way back is cut off, and the move goes on all the same', async () => {
      await using at = await deploy()
      await fill(at)
      const before = await sumsIn(at.databases.control, 'wrkspc_a')
      const cutOff = (databases: Partial<MovedDatabases>) =>
        depsOf(at, { databases: { ...at.databases, ...databases } })
      const stopped = () => Promise.reject(new Error('stopped'))
      for (const [to, back] of [
        ['tenants', 'one'],
        ['one', 'tenants'],
      ] as const) {
        let [copied, undone] = [0, 0]
        const reading: MovedDatabases['control']['reading'] = (work) =>
          ++copied > 5 ? stopped() : at.databases.control.reading(work)
        const halfWay =
          to === 'tenants'
            ? { make: (tenant: string) => (++copied > 2 ? stopped() : at.databases.make(tenant)) }
            : { control: { ...at.databases.control, reading } }
        await assert.rejects(moveDatabases(cutOff(halfWay), to), /stopped/)
        const writing: MovedDatabases['control']['writing'] = (work) =>
          ++undone > 2 ? stopped() : at.databases.control.writing(work)
        const undoing =
          to === 'tenants'
            ? {
                remove: (tenant: string) =>
                  ++undone > 1 ? stopped() : at.databases.remove(tenant),
              }
            : { control: { ...at.databases.control, writing } }
        await assert.rejects(moveDatabases(cutOff(undoing), back), /stopped/)
        assert.equal(await moveDatabases(depsOf(at), to), true)
        const rows = to === 'tenants' ? at.databases.ofTenant('wrkspc_a') : at.databases.control
        assert.deepEqual(await sumsIn(rows, 'wrkspc_a'), before)
      }
    })

    it('begins nothing while a server runs', async () => {
      await using at = await deploy()
      await fill(at)
      const check = () => Promise.reject(new Error('a server runs'))
      await assert.rejects(moveDatabases(depsOf(at, { check }), 'tenants'), /a server runs/)
      assert.equal(await readDatabaseShape(at.control), 'one')
    })

    it('backs a workspace up and restores it as it was, even after its rows were deleted', async () => {
      await using at = await deploy()
      await fill(at)
      const { control } = at.databases
      const path = join(at.folder, 'wrkspc_a.jsonl')
      const before = await sumsIn(control, 'wrkspc_a')
      const others = await sumsIn(control, 'wrkspc_b')
      const databases = { control, tenant: control }
      await writeBackup(path, 'wrkspc_a', databases, { rootKeyId: 'key_1', key, now: 'now' })
      assert.ok(!(await readFile(path, 'utf8')).includes('canary-of-wrkspc_b'))
      await putVault(at.control, 'wrkspc_a', 'vlt_later')
      await at.control.write((tx) =>
        tx.deleteFrom('workspaces').where('id', '=', 'wrkspc_a').execute(),
      )
      const { workspace } = await checkBackup(path, { rootKeyIds: ['key_1'], keys: [key] })
      assert.equal(await restoreWorkspace(path, workspace, control), true)
      await restoreRows(path, workspace, control)
      assert.deepEqual(await sumsIn(control, 'wrkspc_a'), before)
      assert.deepEqual(await sumsIn(control, 'wrkspc_b'), others)
      assert.equal(await restoreWorkspace(path, workspace, control), false)
    })

    it('restores a workspace that was deleted, so that its removal does not go on', async () => {
      await using at = await deploy()
      await fill(at)
      const { control } = at.databases
      const path = join(at.folder, 'a.jsonl')
      const made = { rootKeyId: 'k', key, now: '' }
      await at.control.write(async (tx) => {
        for (const id of ['key_own', 'key_of_settings']) await putKey(tx, id)
      })
      await writeBackup(path, 'wrkspc_a', { control, tenant: control }, made)
      await at.control.write((tx) =>
        tx
          .updateTable('api_keys')
          .set({ tenant_id: 'wrkspc_b' })
          .where('id', '=', 'key_of_settings')
          .execute(),
      )
      // The states of a removal: before its first pass, and after its last.
      for (const isRowThere of [true, false]) {
        await at.control.write(async (tx) => {
          const removal = { tenant_id: 'wrkspc_a', asked_at: '', next_ms: 0, passes: 0 }
          await tx
            .insertInto('workspace_removals')
            .values({ ...removal, is_settled: 0, owner: null, expires_at: 0 })
            .execute()
          const rows = tx.updateTable('workspaces').set({ deleted_at: 'then' })
          await rows.where('id', '=', 'wrkspc_a').execute()
          if (!isRowThere) await tx.deleteFrom('workspaces').where('id', '=', 'wrkspc_a').execute()
        })
        assert.equal(await restoreWorkspace(path, 'wrkspc_a', control), true)
        const removals = await at.control.read
          .selectFrom('workspace_removals')
          .selectAll()
          .execute()
        assert.deepEqual(removals, [])
        const row = at.control.read.selectFrom('workspaces').select('deleted_at')
        const found = await row.where('id', '=', 'wrkspc_a').executeTakeFirst()
        assert.equal(found?.deleted_at, null)
        const keys = at.control.read.selectFrom('api_keys').select(['id', 'tenant_id'])
        assert.deepEqual(
          (await keys.orderBy('id').execute()).map(({ id, tenant_id: of }) => `${id} ${of}`),
          ['key_of_settings wrkspc_b', 'key_own wrkspc_a'],
        )
      }
    })

    it('refuses a backup that somebody else has made', async () => {
      await using at = await deploy()
      await fill(at)
      const { control } = at.databases
      const path = join(at.folder, 'a.jsonl')
      const held = { rootKeyIds: ['k'], keys: [key] }
      const forged = { rootKeyId: 'k', key: Buffer.alloc(32, 2), now: '' }
      await writeBackup(path, 'wrkspc_a', { control, tenant: control }, forged)
      await assert.rejects(checkBackup(path, held), /is not signed by this deployment/)
      // A backup without a workspace would name the audit of the deployment.
      const sums = { vaults: { rows: 0, sum: '0' } }
      const head = { format: 'steward-workspace/1', workspace: '', migrations: migrationNames }
      const lines = [{ ...head, root_key_id: 'k', made_at: '' }, { sums }, { signature: 'none' }]
      await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'))
      await assert.rejects(checkBackup(path, held), /is not signed by this deployment/)
    })

    it('refuses a backup that is cut, changed, of another version or of another secret', async () => {
      await using at = await deploy()
      await fill(at)
      const { control } = at.databases
      const path = join(at.folder, 'a.jsonl')
      const made = { rootKeyId: 'k', key, now: '' }
      await writeBackup(path, 'wrkspc_a', { control, tenant: control }, made)
      const held = { rootKeyIds: ['k'], keys: [Buffer.alloc(32, 9), key] }
      const text = await readFile(path, 'utf8')
      const lines = text.trimEnd().split('\n')
      const [head = ''] = lines
      const cases: [string, RegExp][] = [
        [lines.slice(0, -1).join('\n'), /its end is missing/],
        [text.replace('"name":"canary-of-wrkspc_a"', '"name":"other"'), /vaults has 3 rows/],
        [lines.toSpliced(2, 1).join('\n'), /rows that are not the/],
        [
          text.replace(head, head.replace('"0001-tables"', '"0001-other"')),
          /another version of Steward/,
        ],
        [text.slice(0, -40), /is not part of a backup/],
      ]
      for (const [broken, why] of cases) {
        await writeFile(path, broken)
        await assert.rejects(checkBackup(path, held), why)
      }
      await writeFile(path, text)
      await checkBackup(path, held)
      const another = { ...held, rootKeyIds: ['another'] }
      await assert.rejects(checkBackup(path, another), /another PLATFORM_ROOT_SECRET/)
    })
  })
}
