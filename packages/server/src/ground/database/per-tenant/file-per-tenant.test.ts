import assert from 'node:assert/strict'
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { NoWorkspaceError, WorkspaceDatabaseError, StorageError } from '../../core/errors.ts'
import type { Database } from '../database.ts'
import { openFilePerTenant, collectItems, putVault, vaultsIn } from './fixture.ts'

/** Number of databases in the folder that this process has open. */
async function openFilesIn(folder: string): Promise<number> {
  const names = await readdir(folder)
  return names.filter((name) => name.endsWith('.db-wal')).length
}

describe('a file for each tenant', () => {
  it('keeps the rows of a tenant in its file, and in no other', async () => {
    await using at = await openFilePerTenant(['wrkspc_a', 'wrkspc_b'])
    const { databases, folder } = at
    for (const tenant of ['wrkspc_a', 'wrkspc_b'])
      await putVault(await databases.open(tenant), tenant, `vlt_${tenant}`)
    assert.deepEqual(await vaultsIn(await databases.open('wrkspc_a')), ['vlt_wrkspc_a'])
    assert.deepEqual(await vaultsIn(await databases.open('wrkspc_b')), ['vlt_wrkspc_b'])
    await at.reopen()
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name))
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name)
      if (!name.startsWith('wrkspc_a')) assert.ok(!bytes.includes('canary-of-wrkspc_a'), name)
      if (!name.startsWith('wrkspc_b')) assert.ok(!bytes.includes('canary-of-wrkspc_b'), name)
    }
  })

  it('has so many files open at most, under any number of callers, and loses no write', async () => {
    const tenants = Array.from({ length: 6 }, (_, n) => `wrkspc_${n}`)
    await using at = await openFilePerTenant(tenants, { mostOpen: 3 })
    const { databases, folder } = at
    const held = new Map<string, Database>()
    for (const tenant of tenants) held.set(tenant, await databases.open(tenant))
    let most = 0
    // A database that is held stays usable whether its file is open or closed.
    const work = tenants.flatMap((tenant) =>
      Array.from({ length: 4 }, async (_, n) => {
        const database = n % 2 === 0 ? await databases.open(tenant) : held.get(tenant)
        assert.ok(database)
        await putVault(database, tenant, `vlt_${n}`)
        most = Math.max(most, await openFilesIn(folder))
        assert.ok((await vaultsIn(database)).includes(`vlt_${n}`))
      }),
    )
    await Promise.all(work)
    assert.ok(most <= 3, `${most} files were open`)
    for (const tenant of tenants)
      assert.equal((await vaultsIn(await databases.open(tenant))).length, 4)
  })

  it('closes no file under a unit that runs', async () => {
    await using at = await openFilePerTenant(['wrkspc_a', 'wrkspc_b', 'wrkspc_c'], { mostOpen: 1 })
    const { databases } = at
    const first = await databases.open('wrkspc_a')
    const writes = Array.from({ length: 5 }, (_, n) => putVault(first, 'wrkspc_a', `vlt_${n}`))
    const others = ['wrkspc_b', 'wrkspc_c'].map(async (tenant) =>
      putVault(await databases.open(tenant), tenant, 'vlt_1'),
    )
    await Promise.all([...writes, ...others])
    assert.equal((await vaultsIn(first)).length, 5)
  })

  it('lets a tenant fill its own file, and no disk', async () => {
    await using at = await openFilePerTenant(['wrkspc_a', 'wrkspc_b'], { mostBytes: 1_200_000 })
    const { databases } = at
    const [a, b] = [await databases.open('wrkspc_a'), await databases.open('wrkspc_b')]
    const name = (database: Database, tenant: string, id: string, bytes: number) =>
      database.write((tx) =>
        tx
          .updateTable('vaults')
          .set({ name: 'x'.repeat(bytes) })
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .execute(),
      )
    await putVault(a, 'wrkspc_a', 'vlt_1')
    await assert.rejects(name(a, 'wrkspc_a', 'vlt_1', 2_000_000), (error) => {
      assert.ok(error instanceof StorageError)
      assert.equal(error.reason, 'full')
      return true
    })
    await putVault(b, 'wrkspc_b', 'vlt_1')
    await putVault(a, 'wrkspc_a', 'vlt_2')
    assert.deepEqual(await vaultsIn(a), ['vlt_1', 'vlt_2'])
  })

  it('sets a damaged file aside, and serves the others', async () => {
    await using at = await openFilePerTenant(['wrkspc_a', 'wrkspc_b'])
    for (const tenant of ['wrkspc_a', 'wrkspc_b'])
      await putVault(await at.databases.open(tenant), tenant, 'vlt_1')
    await at.close()
    await writeFile(join(at.folder, 'wrkspc_a.db'), 'this is no database'.repeat(1_000))
    const databases = await at.reopen()
    await assert.rejects(databases.open('wrkspc_a'), WorkspaceDatabaseError)
    await assert.rejects(databases.open('wrkspc_a'), /others are not affected/)
    assert.deepEqual(await vaultsIn(await databases.open('wrkspc_b')), ['vlt_1'])
    assert.equal((await collectItems(databases.due())).length, 1, 'jobs go on with the others')
    assert.equal(at.errors.length, 1, 'logged once')
  })

  it('refuses a file of a newer version, and a missing file', async () => {
    await using at = await openFilePerTenant(['wrkspc_a', 'wrkspc_b'])
    for (const tenant of ['wrkspc_a', 'wrkspc_b'])
      await putVault(await at.databases.open(tenant), tenant, 'vlt_1')
    await at.close()
    {
      using newer = new DatabaseSync(join(at.folder, 'wrkspc_a.db'))
      newer.exec("insert into kysely_migration values ('9999-later', '2030')")
    }
    await rm(join(at.folder, 'wrkspc_b.db'))
    const databases = await at.reopen()
    for (const tenant of ['wrkspc_a', 'wrkspc_b'])
      await assert.rejects(databases.open(tenant), WorkspaceDatabaseError)
    const causes = at.errors.map(({ error }) => String(error)).join()
    assert.match(causes, /newer version of Steward .*9999-later/)
    assert.match(causes, /file of the database of wrkspc_b is not there/)
  })

  it('makes no file for a tenant without a workspace, nor for an id that is a path', async () => {
    await using at = await openFilePerTenant(['../wrkspc_out'])
    await assert.rejects(at.databases.open('wrkspc_none'), NoWorkspaceError)
    for (const tenant of ['../wrkspc_out', '', 'a/b', 'a\0b'])
      await assert.rejects(at.databases.open(tenant), WorkspaceDatabaseError)
    assert.deepEqual(
      (await readdir(at.folder)).filter((name) => !name.endsWith('.template')),
      [],
    )
  })

  it('makes a file without the log of one whose removal was cut off', async () => {
    await using at = await openFilePerTenant(['wrkspc_a'])
    await putVault(await at.databases.open('wrkspc_a'), 'wrkspc_a', 'vlt_removed')
    const file = join(at.folder, 'wrkspc_a.db')
    const log = await readFile(`${file}-wal`)
    await at.databases.control.write((tx) => tx.deleteFrom('tenant_databases').execute())
    await at.close()
    await rm(file)
    await writeFile(`${file}-wal`, log)
    const databases = await at.reopen()
    assert.deepEqual(await vaultsIn(await databases.open('wrkspc_a')), [])
  })

  it('finds a file that a process made before it said so, and removes a half made file', async () => {
    await using at = await openFilePerTenant(['wrkspc_a'])
    await putVault(await at.databases.open('wrkspc_a'), 'wrkspc_a', 'vlt_1')
    await at.databases.control.write((tx) => tx.deleteFrom('tenant_databases').execute())
    await writeFile(join(at.folder, 'wrkspc_b.db.new'), 'half')
    const databases = await at.reopen()
    assert.deepEqual(await vaultsIn(await databases.open('wrkspc_a')), ['vlt_1'])
    assert.ok(!(await readdir(at.folder)).includes('wrkspc_b.db.new'))
  })

  it('has jobs look at what a process wrote that was killed', async () => {
    await using at = await openFilePerTenant(['wrkspc_a'])
    const { control } = at.databases
    await putVault(await at.databases.open('wrkspc_a'), 'wrkspc_a', 'vlt_1')
    const [row] = await control.read.selectFrom('tenant_databases').selectAll().execute()
    assert.equal(row?.due_ms, 0, 'said before the write')
  })

  it('refuses statements about rows that are in another database', async () => {
    await using at = await openFilePerTenant(['wrkspc_a'])
    const { databases } = at
    await assert.rejects(
      databases.control.read.selectFrom('sessions').selectAll().execute(),
      /about sessions/,
    )
    const { read } = await databases.open('wrkspc_a')
    await assert.rejects(read.selectFrom('api_keys').selectAll().execute(), /about api_keys/)
  })

  it('removes the files of a tenant that is forgotten, and makes them for nobody again', async () => {
    await using at = await openFilePerTenant(['wrkspc_a'])
    const database = await at.databases.open('wrkspc_a')
    await putVault(database, 'wrkspc_a', 'vlt_1')
    await at.databases.forget('wrkspc_a')
    await assert.rejects(putVault(database, 'wrkspc_a', 'vlt_2'), /was deleted/)
    const names = await readdir(at.folder)
    assert.deepEqual(
      names.filter((name) => name.startsWith('wrkspc_')),
      [],
    )
  })
})
