import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectGarbage } from '@steward/base/cost-fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import { NoWorkspaceError, StorageError, WorkspaceDatabaseError } from '../../core/errors.ts'
import type { Database } from '../database.ts'
import { runOnEach } from '../database.ts'
import { collectItems, putVault, tenantShapes, vaultsIn } from './fixture.ts'

const [a, b, c] = ['wrkspc_a', 'wrkspc_b', 'wrkspc_c']

/** A clock that the test can set ahead. */
function movedClock() {
  const clock = { ...systemClock, ahead: 0, now: () => Date.now() + clock.ahead }
  return clock
}

for (const [shape, open] of Object.entries(tenantShapes)) {
  describe(`databases of tenants as ${shape}`, () => {
    it('keep the rows of each tenant apart, in reads and in units that run together', async () => {
      await using at = await open([a, b])
      const work = [a, b].map(async (tenant) => {
        const database = await at.databases.open(tenant)
        for (let n = 0; n < 5; n++) {
          await Promise.all([putVault(database, tenant, `vlt_${n}`), vaultsIn(database)])
          assert.equal((await vaultsIn(database)).length, n + 1)
          const { names } = await database.write(async (tx) => ({
            names: await tx.selectFrom('vaults').select('name').distinct().execute(),
          }))
          assert.deepEqual(
            names.map(({ name }) => name),
            [`canary-of-${tenant}`],
          )
        }
      })
      await Promise.all(work)
    })

    it('write nothing of a unit that throws', async () => {
      await using at = await open([a])
      const database = await at.databases.open(a)
      await putVault(database, a, 'vlt_1')
      await assert.rejects(
        database.write(async (tx) => {
          await tx.deleteFrom('vaults').execute()
          throw new Error('no')
        }),
        /^Error: no$/,
      )
      assert.deepEqual(await vaultsIn(database), ['vlt_1'])
    })

    it('keep nothing in memory when nobody has used them for a while', async () => {
      const clock = movedClock()
      await using at = await open([a, b], { clock })
      const use = async (tenant: string) => {
        const database = await at.databases.open(tenant)
        await putVault(database, tenant, `vlt_${clock.ahead}`)
        return new WeakRef(database)
      }
      const used = [await use(a), await use(b)]
      const kept = await at.databases.open(b)
      const isThere = (n: number) => used[n]?.deref() !== undefined
      for (let looks = 0; looks < 20 && isThere(0); looks++) {
        clock.ahead += 11 * 60_000
        for await (const _database of at.databases.due());
        await new Promise((resolve) => setTimeout(resolve, 5))
        collectGarbage()
      }
      assert.equal(isThere(0), false)
      assert.equal(await at.databases.open(b), kept, 'a tenant has one database at a time')
      await use(a)
      assert.equal((await vaultsIn(await at.databases.open(a))).length, 2)
    })

    it('are made for workspaces alone', async () => {
      await using at = await open([a])
      for (const tenant of ['wrkspc_none', '../wrkspc_a', 'a"; drop schema public; --', ''])
        await assert.rejects(async () => at.databases.open(tenant), isRefused)
      // Callers who ask for unknown tenants cannot fill the log.
      assert.deepEqual(
        at.errors.map(({ tenant }) => tenant).filter((each) => each === 'wrkspc_none'),
        [],
      )
    })

    it('are forgotten with all rows, and made for nobody again', async () => {
      await using at = await open([a, b])
      const database = await at.databases.open(a)
      await putVault(database, a, 'vlt_1')
      await putVault(await at.databases.open(b), b, 'vlt_1')
      await at.databases.forget(a)
      await assert.rejects(at.databases.open(a), NoWorkspaceError)
      assert.equal((await at.databases.every()).length, 1)
      await at.databases.control.write((tx) =>
        tx.deleteFrom('workspaces').where('id', '=', a).execute(),
      )
      const again = await at.reopen()
      await assert.rejects(again.open(a), NoWorkspaceError)
      assert.deepEqual(await vaultsIn(await again.open(b)), ['vlt_1'])
    })

    it('are shown to jobs while something is due in them, and to a walk in any case', async () => {
      const clock = movedClock()
      await using at = await open([a, b, c], { clock })
      for (const tenant of [a, b, c]) await putVault(await at.databases.open(tenant), tenant, 'v')
      const due = await at.databases.open(b)
      await due.write((tx) =>
        tx.insertInto('loose_blobs').values({ tenant_id: b, blob_key: 'k', due_ms: 1 }).execute(),
      )
      const databases = await at.reopen()
      clock.ahead = 60_000
      await collectItems(databases.due())
      assert.deepEqual(await collectItems(databases.due()), [await databases.open(b)])
      const again = await databases.open(b)
      await again.write((tx) =>
        tx
          .updateTable('loose_blobs')
          .set({ due_ms: clock.now() + 90_000 })
          .execute(),
      )
      const later = await at.reopen()
      clock.ahead += 60_000
      await collectItems(later.due())
      assert.deepEqual(await collectItems(later.due()), [])
      assert.deepEqual(await collectItems(later.due(60_000)), [await later.open(b)])
      const walk = later.walk(2 * 60 * 60_000)
      const seen = new Set<Database>()
      for (let pass = 0; pass < 3; pass++)
        for (const each of await collectItems(walk())) seen.add(each)
      assert.equal(seen.size, 3)
    })

    it('are prepared before they are used, once', async () => {
      await using at = await open([a, b])
      const prepared: string[][] = []
      await at.databases.open(a)
      await at.databases.prepare(async (database) => void prepared.push(await vaultsIn(database)))
      assert.equal(prepared.length, 1)
      await at.databases.open(b)
      await at.databases.open(a)
      assert.equal(prepared.length, 2)
    })

    it('serve the others where one cannot be opened', async () => {
      await using at = await open([a, b])
      for (const tenant of [a, b]) await putVault(await at.databases.open(tenant), tenant, 'v')
      let isBroken = true
      const databases = await at.reopen()
      await databases.prepare(async (database) => {
        if (isBroken && (await namesIn(database)).includes(`canary-of-${a}`))
          throw new Error('it is broken')
      })
      await assert.rejects(databases.open(a), /others are not affected/)
      await assert.rejects(databases.open(a), WorkspaceDatabaseError)
      assert.deepEqual(await vaultsIn(await databases.open(b)), ['v'])
      assert.deepEqual(await collectItems(databases.due()), [await databases.open(b)])
      assert.equal(at.errors.length, 1, 'it is logged once')
      isBroken = false
    })

    it('let a job go on with the others where its work on one fails', async () => {
      await using at = await open([a, b])
      for (const tenant of [a, b]) await putVault(await at.databases.open(tenant), tenant, 'v')
      const done: string[] = []
      const work = runOnEach(at.databases.due(), async (database) => {
        const [name = ''] = await namesIn(database)
        if (name === `canary-of-${a}`) throw new StorageError('full', new Error(name))
        done.push(name)
        return true
      })
      await assert.rejects(work, StorageError)
      assert.deepEqual(done, [`canary-of-${b}`])
    })
  })
}

const namesIn = async ({ read }: Database) =>
  (await read.selectFrom('vaults').select('name').execute()).map(({ name }) => name)

const isRefused = (error: unknown) =>
  error instanceof NoWorkspaceError ||
  error instanceof WorkspaceDatabaseError ||
  /cannot be the name/.test(String(error))
