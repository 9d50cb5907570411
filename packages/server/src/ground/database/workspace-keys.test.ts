import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { isUnderRoot, createSeal } from '../core/security/seal.ts'
import type { Database } from './database.ts'
import { databases } from './fixture.ts'
import { addWorkspace } from './per-tenant/fixture.ts'
import { workspaceKeys, workspaceKeyStore } from './workspace-keys.ts'

const root = createSeal('a root secret for tests')
const [a, b] = ['wrkspc_a', 'wrkspc_b']
const contextOf = (tenant: string) => `${tenant}/model_cards/card_1/sealed_key`
const keysOf = (database: Database, by = root) => workspaceKeys(database, by, systemClock)

for (const [name, open] of Object.entries(databases)) {
  describe(`the keys of workspaces on ${name}`, () => {
    it('are one for a workspace, whichever process makes it, and open nothing of another', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await addWorkspace(database, a)
      await addWorkspace(database, b)
      const processes = Array.from({ length: 4 }, () => keysOf(database))
      await Promise.all(processes.flatMap((keys) => [a, a, b].map((id) => keys.hold(id))))
      const [one, two] = processes
      assert.ok(one && two)
      const sealed = one.seal.seal('sk-of-a', contextOf(a))
      assert.equal(two.seal.open(sealed, contextOf(a)), 'sk-of-a')
      assert.throws(() => two.seal.open(sealed, contextOf(b)), /forgotten/)
      assert.throws(() => root.open(sealed, contextOf(a)), /not a sealed value/)
    })

    it('open values that the root secret has sealed before', async () => {
      await using testDatabase = await open()
      const old = root.seal('sk-old', contextOf(a))
      assert.equal(keysOf(testDatabase.database).seal.open(old, contextOf(a)), 'sk-old')
    })

    it('are made for no workspace that is being deleted or not there, and nothing is sealed for it', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await addWorkspace(database, a)
      await database.write((tx) =>
        tx.updateTable('workspaces').set({ deleted_at: 'now' }).execute(),
      )
      const keys = keysOf(database)
      for (const tenant of [a, b]) {
        assert.equal(await keys.hold(tenant), undefined)
        assert.throws(() => keys.seal.seal('sk', contextOf(tenant)), new RegExp(tenant))
      }
      const rows = await database.read.selectFrom('workspace_keys').selectAll().execute()
      assert.deepEqual(rows, [])
    })

    it('forgotten, open nothing that they sealed, also under a key that is made after', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await addWorkspace(database, a)
      const keys = keysOf(database)
      await keys.hold(a)
      const sealed = keys.seal.seal('sk-of-a', contextOf(a))
      await database.write((tx) => workspaceKeyStore(tx).forget(a))
      const later = keysOf(database)
      await later.hold(a)
      assert.throws(() => later.seal.open(sealed, contextOf(a)), { kind: 'conflict' })
    })

    it('are in the database under the root secret alone', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await addWorkspace(database, a)
      await keysOf(database).hold(a)
      const row = await workspaceKeyStore(database.read).find(a)
      assert.ok(row && isUnderRoot(row.sealed))
      const other = keysOf(database, createSeal('another root secret'))
      await assert.rejects(other.hold(a), /root key/)
    })
  })
}
