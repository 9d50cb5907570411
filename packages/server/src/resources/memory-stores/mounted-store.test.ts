import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MemoryChange, MountedMemory } from '@steward/protocol/inputs.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { start, storeIn, tenant } from './fixture.ts'
import { memoryStore } from './mounted-store.ts'
import { memoryStoreStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const at = { now: start, checkRoom: async () => {} }
const actor = { type: 'session_actor', session_id: 'sesn_1' } as const

async function mountedMemories(database: Database, store: string): Promise<MountedMemory[]> {
  const mounted = memoryStore(database.read)
  const facts = await mounted.facts(tenant, store)
  const paths = [...(facts?.hashes.keys() ?? [])]
  return paths.length === 0 ? [] : mounted.contents(tenant, store, paths.toSorted())
}

type Changed =
  | { path: string; content: string; expectedSha?: string | null }
  | { path: string; deleted: true; expectedSha?: string | null }

const writing =
  (database: Database, store: string) =>
  ({ expectedSha = null, ...change }: Changed) =>
    database.write((tx) =>
      memoryStore(tx).write(
        tenant,
        store,
        { actor, expected_sha: expectedSha, ...change } as MemoryChange & { actor: typeof actor },
        at,
      ),
    )

for (const [kind, open] of Object.entries(everyShape)) {
  describe(`a mounted memory store on ${kind}`, () => {
    it('gives its hashes at a revision, and its contents by path', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const mounted = memoryStore(opened.database.read)
      assert.deepEqual(await mounted.facts(tenant, store.id), { revision: 0, hashes: new Map() })
      const one = await store.create(start, { path: '/a/one', content: 'one' })
      const two = await store.create(start, { path: '/two', content: 'two' })
      await store.update(start, one.id, { content: 'new' })
      await store.update(start, one.id, { content: 'new' })
      await store.remove(start, two.id, undefined)
      const facts = await mounted.facts(tenant, store.id)
      assert.equal(facts?.revision, 4)
      assert.deepEqual([...facts.hashes.keys()], ['/a/one'])
      const [found, ...others] = await mounted.contents(tenant, store.id, ['/a/one', '/two'])
      assert.deepEqual([found?.content, others], ['new', []])
      assert.equal(await mounted.facts(tenant, 'memstore_never'), undefined)
    })

    it('takes several changes at once, and says whether others came between', async () => {
      await using opened = await open()
      const { database } = opened
      const store = await storeIn(database)
      await store.create(start, { path: '/a/b', content: 'x' })
      const changes = [
        {
          path: '/a/b',
          deleted: true,
          expected_sha: (await mountedMemories(database, store.id))[0]?.content_sha256 ?? '',
        },
        { path: '/a', content: 'now a file', expected_sha: null },
        { path: '/b//', content: '', expected_sha: null },
      ] as const
      const write = () =>
        database.write((tx) => memoryStore(tx).writeAll(tenant, store.id, { actor, changes }, at))
      const written = await write()
      assert.deepEqual(
        written?.outcomes.map(({ type }) => type),
        ['ok', 'ok', 'refused'],
      )
      assert.deepEqual([written.from, written.to], [1, 3])
      const again = await write()
      assert.deepEqual([again?.from, again?.to], [3, 3], 'nothing is another than it was')
      const nowhere = database.write((tx) =>
        memoryStore(tx).writeAll(tenant, 'memstore_never', { actor, changes }, at),
      )
      assert.equal(await nowhere, undefined)
    })

    it('takes back what was made, changed and deleted, with the session as actor', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const write = writing(opened.database, store.id)
      const made = await write({ path: '/a', content: 'one' })
      assert.ok(made.type === 'ok' && made.memory)
      const expectedSha = made.memory.content_sha256
      assert.equal((await write({ path: '/a', content: 'two', expectedSha })).type, 'ok')
      const [now] = await mountedMemories(opened.database, store.id)
      assert.deepEqual([now?.content, now?.memory_id], ['two', made.memory.memory_id])
      const gone = { path: '/a', deleted: true, expectedSha: now?.content_sha256 ?? '' } as const
      const deleted = await write(gone)
      assert.ok(deleted.type === 'ok' && deleted.memory === null)
      assert.equal(deleted.replaced?.content, 'two')
      assert.deepEqual(await write(gone), { type: 'ok', memory: null }, 'it is gone already')
      assert.deepEqual(
        (await store.versions()).map(({ operation, session_id }) => [operation, session_id]),
        [
          ['deleted', 'sesn_1'],
          ['modified', 'sesn_1'],
          ['created', 'sesn_1'],
        ],
      )
      assert.equal((await store.row()).memories, 0)
    })

    it('gives the later of two writers what the earlier wrote', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const write = writing(opened.database, store.id)
      const { sha256 } = await store.create(start, { path: '/a/b', content: 'one' })
      await write({ path: '/a/b', content: 'theirs', expectedSha: sha256 })
      for (const late of [
        { path: '/a/b', content: 'mine', expectedSha: sha256 },
        { path: '/a/b', content: 'mine' },
        { path: '/a/b', deleted: true, expectedSha: sha256 },
        { path: '/a/b', deleted: true },
        { path: '/a', content: 'mine' },
        { path: '/a/b/c', content: 'mine' },
      ] as const) {
        const outcome = await write(late)
        assert.equal(outcome.type, 'conflict', late.path)
        assert.ok(outcome.type === 'conflict')
        assert.deepEqual([outcome.current.path, outcome.current.content], ['/a/b', 'theirs'])
      }
      const same = { path: '/a/b', content: 'theirs', expectedSha: sha256 }
      assert.equal((await write(same)).type, 'ok', 'both wrote the same')
      assert.equal((await store.versions()).length, 2)
    })

    it('makes a file again that another deleted while it was changed', async () => {
      await using opened = await open()
      const store = await storeIn(opened.database)
      const { id, sha256 } = await store.create(start, { path: '/a', content: 'one' })
      await store.remove(start, id, undefined)
      const write = writing(opened.database, store.id)
      assert.equal((await write({ path: '/a', content: 'two', expectedSha: sha256 })).type, 'ok')
    })

    it('refuses what no store takes, and says why', async () => {
      await using opened = await open()
      const { database } = opened
      const store = await storeIn(database)
      const write = writing(database, store.id)
      const why = async (change: Changed, to = write) => {
        const outcome = await to(change)
        assert.ok(outcome.type === 'refused', change.path)
        return outcome.why
      }
      assert.match(await why({ path: '/a//b', content: '' }), /segment/)
      assert.match(await why({ path: '/nul', content: '\0' }), /NUL/)
      assert.match(await why({ path: '/more', content: 'x'.repeat(102_401) }), /102,400/)
      assert.match(
        await why({ path: '/a', content: '' }, writing(database, 'memstore_never')),
        /memstore_never does not exist/,
      )
      const { sha256 } = await store.create(start, { path: '/kept', content: 'x' })
      await database.write(async (tx) => {
        const kept = await rows(tx, 'memory_stores').get(tenant, store.id)
        await memoryStoreStore(tx).update(kept, { archived_at: iso(start) }, start)
      })
      assert.match(await why({ path: '/a', content: 'x' }), /archived/)
      assert.equal((await write({ path: '/kept', deleted: true, expectedSha: sha256 })).type, 'ok')
    })
  })
}
