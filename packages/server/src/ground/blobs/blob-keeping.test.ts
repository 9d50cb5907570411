import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../database/database.ts'
import { oneDatabase } from '../database/database.ts'
import { databases } from '../database/fixture.ts'
import { heldByFile } from '../../resources/files/store.ts'
import type { Blobs } from './blobs.ts'
import { diskBlobs } from './disk.ts'
import { blobKeeping } from './blob-keeping.ts'
import { looseBlobStore } from './store.ts'

const tenant = 'wrkspc_a'
const day = 24 * 60 * 60 * 1000

async function* bytes(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

async function opened(dialect: Database['dialect']) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-keeping-'))
  const { database, ...held } = await databases[dialect]()
  let now = Date.now()
  const blobs = await diskBlobs(folder)
  const made = (over: Partial<Blobs> = {}) =>
    blobKeeping({
      databases: oneDatabase(database),
      blobs: { ...blobs, ...over },
      clock: { ...systemClock, now: () => now },
      holders: [heldByFile],
    })
  const row = (id: string, blob_key: string) => ({
    tenant_id: tenant,
    id,
    session_id: null,
    origin: 'upload' as const,
    filename: 'a',
    mime_type: 'text/plain',
    size_bytes: 1,
    sha256: '',
    blob_key,
    downloadable: 1,
    expires_at: null,
    created_at: new Date(now).toISOString(),
  })
  return {
    blobs,
    database,
    keeping: made(),
    made,
    insert: (id: string, key: string) =>
      database.write((tx) => tx.insertInto('files').values(row(id, key)).execute()),
    pass: (ms: number) => (now += ms),
    marks: async () =>
      (await database.read.selectFrom('loose_blobs').select('blob_key').execute()).map(
        ({ blob_key }) => blob_key,
      ),
    async [Symbol.asyncDispose]() {
      await held[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

for (const dialect of ['sqlite', 'postgres'] as const) {
  describe(`blobs and their rows on ${dialect}`, () => {
    it('are there together, once the row is committed', async () => {
      await using it = await opened(dialect)
      assert.equal((await it.keeping.put(tenant, 'k/1', bytes('x'))).size, 1)
      assert.deepEqual(await it.marks(), ['k/1'])
      await it.database.write((tx) => it.keeping.hold(tx, tenant, 'k/1'))
      await it.insert('file_1', 'k/1')
      it.pass(2 * day)
      assert.deepEqual(await it.keeping.removeLoose(), { isAll: true, failures: [] })
      assert.deepEqual(await it.blobs.head('k/1'), { size: 1 })
      assert.deepEqual(await it.marks(), [])
    })

    it('are both deleted when the server dies between the two, and not before a day has passed', async () => {
      await using it = await opened(dialect)
      await it.keeping.put(tenant, 'k/orphan', bytes('x'))
      await it.keeping.removeLoose()
      assert.ok(await it.blobs.head('k/orphan'))
      it.pass(day + 1)
      await it.keeping.removeLoose()
      assert.equal(await it.blobs.head('k/orphan'), undefined)
      assert.deepEqual(await it.marks(), [])
      await assert.rejects(
        it.database.write((tx) => it.keeping.hold(tx, tenant, 'k/orphan')),
        /was deleted before its row was written/,
      )
    })

    it('are not kept when the body fails', async () => {
      await using it = await opened(dialect)
      const broken = async function* () {
        yield Buffer.from('half')
        throw new Error('the caller went away')
      }
      await assert.rejects(it.keeping.put(tenant, 'k/half', broken()), /went away/)
      assert.equal(await it.blobs.head('k/half'), undefined)
      assert.deepEqual(await it.marks(), [])
    })

    it('stay as long as any row holds the blob', async () => {
      await using it = await opened(dialect)
      await it.keeping.put(tenant, 'k/shared', bytes('x'))
      await it.insert('file_copy', 'k/shared')
      await it.keeping.abandon(tenant, 'k/shared')
      assert.ok(await it.blobs.head('k/shared'))
      assert.deepEqual(await it.marks(), [])
      await it.database.write((tx) => tx.deleteFrom('files').execute())
      await it.keeping.abandon(tenant, 'k/shared')
      assert.equal(await it.blobs.head('k/shared'), undefined)
    })

    it('are not kept when the store failed and has the blob all the same', async () => {
      await using it = await opened(dialect)
      const lost = it.made({
        put: async (key, body) => {
          await it.blobs.put(key, body)
          throw new Error('the answer was lost')
        },
      })
      await assert.rejects(lost.put(tenant, 'k/lost', bytes('x')), /lost/)
      assert.equal(await it.blobs.head('k/lost'), undefined)
      assert.deepEqual(await it.marks(), [])
    })

    it('are swept again when the store of blobs was away', async () => {
      await using it = await opened(dialect)
      await it.keeping.put(tenant, 'k/late', bytes('x'))
      const away = it.made({ delete: () => Promise.reject(new Error('the store is away')) })
      await away.abandon(tenant, 'k/late')
      assert.match(String((await away.removeLoose()).failures[0]), /away/)
      assert.deepEqual(await it.marks(), ['k/late'])
      await it.keeping.removeLoose()
      assert.ok(await it.blobs.head('k/late'))
      it.pass(day)
      await it.keeping.removeLoose()
      assert.equal(await it.blobs.head('k/late'), undefined)
    })

    it('are removed a hundred at a time', async () => {
      await using it = await opened(dialect)
      await it.database.write(async (tx) => {
        for (let i = 0; i < 101; i++) await looseBlobStore(tx).mark(tenant, `k/${i}`, 0)
      })
      assert.equal((await it.keeping.removeLoose()).isAll, false)
      assert.equal((await it.marks()).length, 1)
      assert.deepEqual(await it.keeping.removeLoose(), { isAll: true, failures: [] })
      assert.deepEqual(await it.marks(), [])
    })
  })
}
