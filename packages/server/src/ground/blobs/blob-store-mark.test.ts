import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { StorageError } from '../core/errors.ts'
import { shapesOf } from '../database/shapes-fixture.ts'
import { acceptBlobStore, checkBlobStore } from './blob-store-mark.ts'
import { diskBlobs } from './disk.ts'

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename))) {
  async function setup() {
    const opened = await open()
    const folder = await mkdtemp(join(tmpdir(), 'steward-stores-'))
    return {
      database: opened.database,
      store: (name: string) => diskBlobs(join(folder, name)),
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]()
        await rm(folder, { recursive: true })
      },
    }
  }

  // verifies: files/one-store
  describe(`the store of the blobs of a database on ${kind}`, () => {
    it('is marked by the first server and found by the next, also when several start at once', async () => {
      await using at = await setup()
      const starts = Array.from({ length: 4 }, async () =>
        checkBlobStore(at.database, await at.store('one')),
      )
      for (const mark of await Promise.all(starts)) assert.ok(await mark.isThere())
      const marks = await Array.fromAsync((await at.store('one')).list('stores/'))
      assert.equal(marks.length, 1)
      await checkBlobStore(at.database, await at.store('one'))
    })

    it('is not marked while it is full', async () => {
      await using at = await setup()
      const store = await at.store('one')
      const put = () => Promise.reject(new StorageError('full', new Error('ENOSPC')))
      const mark = await checkBlobStore(at.database, { ...store, put })
      assert.ok(await mark.isThere())
      assert.deepEqual(await Array.fromAsync(store.list('stores/')), [])
      await checkBlobStore(at.database, store)
      assert.equal((await Array.fromAsync(store.list('stores/'))).length, 1)
    })

    it('is not marked while its disk is full, as the disk says it', async () => {
      await using at = await setup()
      const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      const put = () => Promise.reject(full)
      await checkBlobStore(at.database, { ...(await at.store('one')), put })
    })

    it('is no longer the one of a running server once the operator accepts another', async () => {
      await using at = await setup()
      const running = await checkBlobStore(at.database, await at.store('one'))
      await acceptBlobStore(at.database, await at.store('other'))
      assert.equal(await running.isThere(), false)
      await acceptBlobStore(at.database, await at.store('one'))
      assert.equal(await running.isThere(), true)
    })

    it('is refused where it is another one, until the operator accepts it', async () => {
      await using at = await setup()
      await checkBlobStore(at.database, await at.store('one'))
      const other = await at.store('other')
      await assert.rejects(
        checkBlobStore(at.database, other),
        /is not the one of its database.*STORE_BACKENDS.*accept-blobs/,
      )
      assert.deepEqual(await Array.fromAsync(other.list('stores/')), [])
      await acceptBlobStore(at.database, other)
      await checkBlobStore(at.database, other)
      await assert.rejects(checkBlobStore(at.database, await at.store('one')), /is not the one/)
    })
  })
}
