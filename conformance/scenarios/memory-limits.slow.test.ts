import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import { createMemory } from '@steward/server/resources/memory-stores/write.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'

const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`limits of memory stores on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const stores = () => service.client.beta.memoryStores
    const newStore = async () => (await stores().create({ name: fresh('store') })).id
    const memories = () => stores().memories
    const remember = (store: string, path: string, content = path) =>
      memories().create(store, { path, content })
    const ask = (method: string, path: string, body?: object) =>
      service.ask(method, `/v1/memory_stores${path}`, body, beta)
    const tenantOf = async (store: string) => {
      const rows = service.tenantDatabase.read.selectFrom('memory_stores').select('tenant_id')
      return (await rows.where('id', '=', store).executeTakeFirstOrThrow()).tenant_id
    }

    it('keeps paths and contents within their exact limits', async () => {
      const store = await newStore()
      const status = async (path: string, content: string | null = 'x') =>
        (await ask('POST', `/${store}/memories`, { path, content })).status
      assert.equal(await status(`/${'x'.repeat(1023)}`), 200)
      assert.equal(await status(`/${'y'.repeat(1024)}`), 400)
      assert.equal(await status(`/${Array.from({ length: 20 }, () => 's').join('/')}`), 200)
      assert.equal(await status(`/${Array.from({ length: 21 }, () => 't').join('/')}`), 400)
      for (const bad of [
        '',
        'a',
        '/',
        '//',
        '/a/',
        '/a//b',
        '/./a',
        '/a/..',
        '/a\u0000',
        '/a\u200b',
        '/e\u0301',
      ])
        assert.equal(await status(bad), 400, JSON.stringify(bad))
      assert.equal(await status('/most', 'x'.repeat(102_400)), 200)
      assert.equal(await status('/more', 'x'.repeat(102_401)), 400)
      assert.equal(await status('/null', null), 200)
    })

    it('pages go on behind the longest paths, and cursors only where they were made', async () => {
      const store = await newStore()
      const long = (end: string) => `/${'€'.repeat(340)}${end}`
      for (const end of ['a', 'b', 'c']) await remember(store, long(end))
      const seen: string[] = []
      for await (const { path } of memories().list(store, { limit: 1 })) seen.push(path ?? '')
      assert.deepEqual(seen, ['a', 'b', 'c'].map(long))
      const { next_page } = await memories().list(store, { limit: 1 })
      assert.ok(next_page)
      await assert.rejects(memories().list(store, { page: next_page, depth: 1 }), BadRequestError)
      await assert.rejects(memories().list(await newStore(), { page: next_page }), BadRequestError)
    })

    it('holds at most 2,000 memories, and stays as quick', async () => {
      const [store, small] = [await newStore(), await newStore()]
      const writing = {
        tenant: await tenantOf(store),
        store,
        actor: { type: 'api_actor', api_key_id: 'apikey_1' } as const,
        now: Date.now(),
        checkRoom: async () => {},
      }
      await service.tenantDatabase.write(async (tx) => {
        for (let n = 0; n < 2_000; n++)
          await createMemory({ tx, ...writing }, { path: `/${n % 10}/${n}`, content: 'x' })
      })
      const refused = await ask('POST', `/${store}/memories`, { path: '/over', content: 'x' })
      assert.deepEqual([refused.status, refused.headers.get('x-should-retry')], [400, null])
      assert.match(JSON.stringify(refused.body), /2000/)
      const last = await memories().list(store, { limit: 100, path_prefix: '/7/' })
      const [one] = last.data
      assert.ok(one?.type === 'memory')
      const at = { memory_store_id: store }
      await memories().update(one.id, { ...at, content: 'still edited', path: '/moved' })
      await service.tenantDatabase.write(async (tx) => {
        for (let n = 0; n < 101; n++)
          await createMemory(
            { tx, ...writing, store: small },
            { path: `/${n % 10}/${n}`, content: 'x' },
          )
      })
      // The two lists are read in turn, so that other load on the machine slows both of them.
      const took: Record<'full' | 'small', number[]> = { full: [], small: [] }
      const timed = async <T>(of: keyof typeof took, list: Promise<T>): Promise<T> => {
        const begun = performance.now()
        const listed = await list
        took[of].push(performance.now() - begun)
        return listed
      }
      let count = 0
      let page: string | null = null
      do {
        await timed('small', memories().list(small, { limit: 100 }))
        const listed: { data: unknown[]; next_page: string | null } = await timed(
          'full',
          memories().list(store, { limit: 100, ...(page === null ? {} : { page }) }),
        )
        count += listed.data.length
        page = listed.next_page
      } while (page !== null)
      assert.equal(count, 2_000)
      const [full, few] = [median(took.full), median(took.small)]
      assert.ok(full < 3 * few + 5, `a page of 2,000 takes ${full} ms, and one of 101 ${few} ms`)
      await memories().delete(one.id, at)
      await remember(store, '/again')
      await assert.rejects(remember(store, '/over'), /2000/)
      await stores().delete(store)
    })
  })
}
