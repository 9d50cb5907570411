import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
const sha = (text: string) => createHash('sha256').update(text).digest('hex')

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`memory stores on ${database}`, () => {
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

    verifies(
      [
        'memory-stores/create',
        'memory-stores/list',
        'memory-stores/get',
        'memory-stores/update',
        'memory-stores/archive',
        'memory-stores/delete',
        'memory-stores/field/id',
        'memory-stores/field/name',
      ],
      'the official client makes, reads, changes, archives and deletes them',
      async () => {
        const made = await stores().create({
          name: 'notes',
          description: 'd',
          metadata: { a: '1' },
        })
        assert.deepEqual([made.type, made.name, made.archived_at], ['memory_store', 'notes', null])
        const changed = await stores().update(made.id, { description: '', metadata: { a: null } })
        assert.deepEqual([changed.name, changed.description, changed.metadata], ['notes', '', {}])
        assert.deepEqual(await stores().retrieve(made.id), changed)
        await remember(made.id, '/a')
        assert.ok((await stores().archive(made.id)).archived_at)
        const listed = async (include_archived: boolean) =>
          (await stores().list({ include_archived })).data.some(({ id }) => id === made.id)
        assert.deepEqual([await listed(false), await listed(true)], [false, true])
        await assert.rejects(remember(made.id, '/b'), BadRequestError)
        assert.equal((await memories().list(made.id)).data.length, 1, 'it is still read')
        assert.equal((await stores().delete(made.id)).type, 'memory_store_deleted')
        await assert.rejects(stores().retrieve(made.id), NotFoundError)
        await assert.rejects(memories().list(made.id), NotFoundError)
      },
    )

    verifies(
      [
        'memory-stores/beta-header',
        'memory-stores/field/agent-id',
        'memory-stores/field/embedding-model',
        'memory-stores/field/vector-index',
      ],
      "the interface's own fields are kept, and its header is needed",
      async () => {
        const made = await ask('POST', '', {
          name: 'seed',
          agent_id: 'agent_1',
          embedding_model: 'small',
          vector_index: 'mine',
        })
        const { agent_id, embedding_model, vector_index } = made.body as LooseBody
        assert.deepEqual([agent_id, embedding_model, vector_index], ['agent_1', 'small', 'mine'])
        const plain = await ask('POST', '', { name: 'plain' })
        assert.deepEqual([plain.body['embedding_model'], plain.body['agent_id']], ['none', null])
        const without = await service.ask('GET', '/v1/memory_stores')
        assert.equal(without.status, 400)
        assert.match(JSON.stringify(without.body), /agent-memory-2026-07-22/)
        const wrong = { 'vendor-beta': 'managed-agents-2026-04-01' }
        assert.equal((await service.ask('GET', '/v1/memory_stores', undefined, wrong)).status, 400)
      },
    )

    verifies(
      ['memories/create', 'memories/get', 'memories/update', 'memories/delete'],
      'memories are created, read, changed, renamed and deleted',
      async () => {
        const store = await newStore()
        const made = await memories().create(store, {
          path: '/a/b.md',
          content: 'grüß',
          view: 'full',
        })
        assert.deepEqual(
          [made.path, made.content, made.content_sha256, made.content_size_bytes],
          ['/a/b.md', 'grüß', sha('grüß'), 6],
        )
        const at = { memory_store_id: store }
        const changed = await memories().update(made.id, { ...at, content: '', path: '/c' })
        assert.deepEqual([changed.path, changed.content_size_bytes], ['/c', 0])
        assert.notEqual(changed.memory_version_id, made.memory_version_id)
        const same = await memories().update(made.id, { ...at, content: '' })
        assert.equal(same.memory_version_id, changed.memory_version_id, 'no change is no version')
        assert.equal((await memories().retrieve(made.id, at)).content, '')
        assert.equal((await memories().delete(made.id, at)).type, 'memory_deleted')
        await assert.rejects(memories().retrieve(made.id, at), NotFoundError)
      },
    )

    verifies('memories/precondition', 'a precondition that fails changes nothing', async () => {
      const store = await newStore()
      const { id } = await remember(store, '/a', 'one')
      const at = { memory_store_id: store }
      const expecting = (text: string) => ({
        precondition: { type: 'content_sha256' as const, content_sha256: sha(text) },
      })
      const refused = await memories()
        .update(id, { ...at, content: 'two', ...expecting('other') })
        .then(
          () => assert.fail('it was accepted'),
          (error: unknown) => error,
        )
      assert.ok(refused instanceof ConflictError)
      const { error } = refused.error as { error: LooseBody }
      assert.equal(error['type'], 'memory_precondition_failed_error')
      assert.equal(refused.headers?.get('x-should-retry'), 'false')
      await memories().update(id, { ...at, content: 'two', ...expecting('one') })
      await memories().update(id, { ...at, content: 'two', ...expecting('one') })
      await assert.rejects(
        memories().delete(id, { ...at, expected_content_sha256: sha('one') }),
        ConflictError,
      )
      await memories().delete(id, { ...at, expected_content_sha256: sha('two') })
    })

    it('refuses a path that is taken, or that lies above or below another', async () => {
      const store = await newStore()
      const first = await remember(store, '/a/b/c')
      for (const path of ['/a/b/c', '/a', '/a/b', '/a/b/c/d']) {
        const error = await remember(store, path).then(
          () => assert.fail('it was accepted'),
          (thrown: unknown) => thrown,
        )
        assert.ok(error instanceof ConflictError, path)
        const told = (error.error as { error: LooseBody }).error
        assert.deepEqual(
          [told['type'], told['conflicting_memory_id'], told['conflicting_path']],
          ['memory_path_conflict_error', first.id, '/a/b/c'],
        )
      }
      await remember(store, '/a/b/c2')
      await remember(store, '/A/b/c')
      const other = await remember(store, '/z')
      await assert.rejects(
        memories().update(other.id, { memory_store_id: store, path: '/a/b' }),
        ConflictError,
      )
    })

    verifies(
      ['memories/list', 'memories/list/raw-prefix'],
      'lists go by prefix and depth, in pages',
      async () => {
        const store = await newStore()
        for (const path of ['/b', '/a/1', '/a/2', '/a/deep/3', '/ab', '/a%/x', '/a_b'])
          await remember(store, path)
        const paths = async (query: object) => {
          const seen: (string | undefined)[] = []
          for await (const each of memories().list(store, { limit: 2, ...query }))
            seen.push(`${each.type === 'memory_prefix' ? '+' : ''}${each.path}`)
          return seen
        }
        assert.deepEqual(await paths({}), [
          '/a%/x',
          '/a/1',
          '/a/2',
          '/a/deep/3',
          '/a_b',
          '/ab',
          '/b',
        ])
        assert.deepEqual(await paths({ path_prefix: '/a/' }), ['/a/1', '/a/2', '/a/deep/3'])
        assert.deepEqual(await paths({ depth: 1 }), ['+/a%/', '+/a/', '/a_b', '/ab', '/b'])
        assert.deepEqual(await paths({ depth: 1, path_prefix: '/a/' }), [
          '/a/1',
          '/a/2',
          '+/a/deep/',
        ])
        const headers = { 'anthropic-beta': 'managed-agents-2026-04-01' }
        for (const [path_prefix, count] of [
          ['/a', 6],
          ['/a_b', 1],
          ['/a/deep/3', 1],
          ['/x', 0],
        ] as const) {
          const found = await memories().list(store, { path_prefix }, { headers })
          assert.equal(found.data.length, count, path_prefix)
        }
        const basic = await ask('GET', `/${store}/memories?path_prefix=/a/deep/`)
        const full = await ask('GET', `/${store}/memories?path_prefix=/a/deep/&view=full`)
        assert.deepEqual(
          [basic.body.data[0]?.['content'], full.body.data[0]?.['content']],
          [null, '/a/deep/3'],
        )
        for (const query of ['depth=2', 'path_prefix=/a', 'limit=101', 'view=full&limit=101'])
          assert.equal((await ask('GET', `/${store}/memories?${query}`)).status, 400, query)
      },
    )

    verifies(
      ['memory-stores/full-view', 'lists/short'],
      'a page of whole contents ends after 20',
      async () => {
        const store = await newStore()
        for (let index = 0; index < 21; index++) await remember(store, `/${index}`, 'text')
        for (const kind of ['memories', 'memory_versions']) {
          const page = await ask('GET', `/${store}/${kind}?view=full&limit=100`)
          assert.deepEqual([page.status, page.body.data.length], [200, 20], kind)
          assert.ok(page.body['next_page'])
          assert.equal((await ask('GET', `/${store}/${kind}?limit=100`)).body.data.length, 21, kind)
          assert.equal((await ask('GET', `/${store}/${kind}`)).body.data.length, 20, kind)
        }
      },
    )

    verifies(
      [
        'memory-versions/list',
        'memory-versions/get',
        'memory-versions/redact',
        'memory-versions/audit',
        'memory-versions/head-protected',
      ],
      'each change is a version, which may be redacted unless it is what is there now',
      async () => {
        const store = await newStore()
        const at = { memory_store_id: store }
        const { id } = await remember(store, '/a', 'one')
        await memories().update(id, { ...at, content: 'two' })
        await remember(store, '/other')
        const { data } = await stores().memoryVersions.list(store, { memory_id: id, view: 'full' })
        assert.deepEqual(
          data.map(({ operation, content }) => [operation, content]),
          [
            ['modified', 'two'],
            ['created', 'one'],
          ],
        )
        const [head, first] = data
        assert.ok(head && first)
        assert.equal(first.created_by?.type, 'api_actor')
        await assert.rejects(stores().memoryVersions.redact(head.id, at), ConflictError)
        const redacted = await stores().memoryVersions.redact(first.id, at)
        assert.ok(redacted.redacted_at)
        assert.deepEqual(
          [redacted.content, redacted.path, redacted.content_sha256],
          [null, null, null],
        )
        assert.deepEqual(await stores().memoryVersions.retrieve(first.id, at), redacted)
        await memories().delete(id, at)
        const after = await stores().memoryVersions.list(store, {
          memory_id: id,
          operation: 'deleted',
        })
        assert.equal(after.data.length, 1, 'versions outlive their memory')
        await stores().memoryVersions.redact(head.id, at)
      },
    )

    verifies(
      ['memory-versions/list', 'memory-versions/audit'],
      'versions are found by memory, operation, author and time',
      async () => {
        const { key } = await service.otherWorkspace(fresh('other'))
        const other = { ...beta, 'x-api-key': key }
        const store = await newStore()
        const first = await remember(store, '/a', 'one')
        await memories().update(first.id, { memory_store_id: store, content: 'two' })
        const second = await remember(store, '/b')
        const list = (query: object = {}) => stores().memoryVersions.list(store, query)
        const found = async (query: object = {}) => (await list(query)).data.map(({ id }) => id)
        const all = await found()
        assert.equal(all.length, 3)
        assert.deepEqual((await found({ memory_id: second.id })).length, 1)
        assert.deepEqual((await found({ operation: 'modified' })).length, 1)
        const author = (await list()).data[0]?.created_by
        assert.ok(author?.type === 'api_actor')
        assert.match(author.api_key_id, /^apikey_/)
        assert.deepEqual(await found({ api_key_id: author.api_key_id }), all)
        for (const query of [
          { api_key_id: 'apikey_never' },
          { session_id: 'sesn_never' },
          { service_account_id: 'svac_never' },
          { 'created_at[lte]': '2020-01-01T00:00:00Z' },
        ])
          assert.deepEqual(await found(query), [], JSON.stringify(query))
        assert.deepEqual(await found({ 'created_at[gte]': '2020-01-01T00:00:00Z' }), all)
        const paged: string[] = []
        for await (const { id } of stores().memoryVersions.list(store, { limit: 1 })) paged.push(id)
        assert.deepEqual(paged, all)
        const foreign = `/v1/memory_stores/${store}/memory_versions`
        assert.equal((await service.ask('GET', foreign, undefined, other)).status, 404)
      },
    )

    it('an archived store is read, deleted from and redacted, and takes nothing new', async () => {
      const store = await newStore()
      const at = { memory_store_id: store }
      const kept = await remember(store, '/kept', 'one')
      const changed = await memories().update(kept.id, { ...at, content: 'two' })
      const other = await remember(store, '/other')
      const { archived_at } = await stores().archive(store)
      assert.equal((await stores().archive(store)).archived_at, archived_at)
      await assert.rejects(memories().update(kept.id, { ...at, content: 'x' }), BadRequestError)
      await assert.rejects(stores().update(store, { name: 'x' }), BadRequestError)
      assert.equal((await memories().retrieve(kept.id, at)).content, 'two')
      await memories().delete(other.id, at)
      await stores().memoryVersions.redact(kept.memory_version_id, at)
      await assert.rejects(
        stores().memoryVersions.redact(changed.memory_version_id, at),
        ConflictError,
      )
    })

    it('serves clients that know only the wide beta value', async () => {
      const headers = { 'anthropic-beta': 'managed-agents-2026-04-01' }
      const { oldest } = service
      const made: LooseBody = await oldest.post('/v1/memory_stores', {
        body: { name: 'old' },
        headers,
      })
      const path = `/v1/memory_stores/${made.id}/memories`
      const memory: LooseBody = await oldest.post(path, {
        body: { path: '/a', content: 'x' },
        headers,
      })
      const read: LooseBody = await oldest.get(`${path}/${memory.id}`, { headers })
      assert.equal(read['content'], 'x')
      await assert.rejects(
        oldest.post(path, { body: { path: '/a/b', content: 'x' }, headers }),
        ({ status, error }: { status: number; error: { error: LooseBody } }) => {
          assert.equal(error.error['conflicting_path'], '/a')
          return status === 409
        },
      )
    })

    it('lets no writer overwrite another, and no path be taken twice', async () => {
      const store = await newStore()
      const same = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => remember(store, n % 2 ? '/x' : '/x/y', `${n}`)),
      )
      assert.equal(same.filter(({ status }) => status === 'fulfilled').length, 1)
      const { id } = await remember(store, '/shared', 'start')
      const expected = { type: 'content_sha256' as const, content_sha256: sha('start') }
      const writes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) =>
          memories().update(id, {
            memory_store_id: store,
            content: `by ${n}`,
            precondition: expected,
          }),
        ),
      )
      assert.equal(writes.filter(({ status }) => status === 'fulfilled').length, 1)
      const versions = await stores().memoryVersions.list(store, { memory_id: id })
      assert.equal(versions.data.length, 2)
    })
  })
}
