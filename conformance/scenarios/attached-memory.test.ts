import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`memory stores of sessions on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const stores = () => service.client.beta.memoryStores
    const attach = (...resources: object[]) => newSession(service, {}, { resources })
    const shown = async (session: string) =>
      (await service.client.beta.sessions.retrieve(session)).resources
    const entry = (memory_store_id: string, more: object = {}) => ({
      ...{ type: 'memory_store', memory_store_id },
      ...more,
    })

    verifies(
      ['resources/memory-store', 'memory-stores/attached'],
      'a store is attached under its name, and shown as it was then',
      async () => {
        const { id } = await stores().create({
          name: 'Team Notes, 2030',
          description: 'what we know',
        })
        const session = await attach(entry(id, { access: 'read_only', instructions: 'look first' }))
        await stores().update(id, { name: 'renamed', description: '' })
        const [resource, ...others] = await shown(session)
        assert.ok(resource?.type === 'memory_store')
        const { type, memory_store_id, access, name, description, instructions, mount_path } =
          resource
        assert.deepEqual(
          { type, memory_store_id, access, name, description, instructions, mount_path },
          {
            ...{ type: 'memory_store', memory_store_id: id, access: 'read_only' },
            ...{
              name: 'Team Notes, 2030',
              description: 'what we know',
              instructions: 'look first',
            },
            mount_path: '/mnt/memory/team-notes-2030',
          },
        )
        assert.deepEqual(others, [])
        const listed = await Array.fromAsync(service.client.beta.sessions.resources.list(session))
        assert.deepEqual(listed, [resource])
        const found = service.client.beta.sessions.list({ memory_store_id: id })
        assert.deepEqual(
          (await Array.fromAsync(found)).map((each) => each.id),
          [session],
        )
      },
    )

    verifies(
      ['resources/memory-store/path', 'resources/memory-store/fixed'],
      'stores of one name have paths beside each other, and share them with nothing else',
      async () => {
        const ids = await Promise.all(
          ['Notes', 'notes', 'NOTES', '笔记'].map((name) =>
            stores()
              .create({ name })
              .then(({ id }) => id),
          ),
        )
        const [one = '', two = '', three = '', four = ''] = ids
        const session = await attach(...ids.map((id) => entry(id)))
        const paths = (await shown(session)).map(({ mount_path }) => mount_path)
        assert.deepEqual(
          paths,
          ['notes', 'notes-2', 'notes-3', '-'].map((name) => `/mnt/memory/${name}`),
        )
        const { resources } = service.client.beta.sessions
        const id = String((await shown(session))[0]?.['id' as keyof object])
        await assert.rejects(resources.delete(id, { session_id: session }), /fixed at its creation/)
        const at = await attach(entry(one, { mount_path: '/mnt/memory/a/b' }), entry(two))
        assert.equal((await shown(at))[0]?.mount_path, '/mnt/memory/a/b')
        for (const mount_path of [
          '/workspace/a',
          '/mnt/memory',
          '/mnt/memory/../a',
          '/mnt/memoryx/a',
        ])
          await assert.rejects(attach(entry(three, { mount_path })), BadRequestError, mount_path)
        const twice = entry(four, { mount_path: '/mnt/memory/notes/below' })
        await assert.rejects(attach(entry(two), twice), /collides/)
      },
    )

    verifies(
      ['resources/memory-store/refused'],
      'a store is attached once, eight of them at most, and none that is archived, deleted or of another workspace',
      async () => {
        const make = (name: string) =>
          stores()
            .create({ name })
            .then(({ id }) => id)
        const ids = await Promise.all(Array.from({ length: 9 }, (_, n) => make(fresh(`s${n}`))))
        await attach(...ids.slice(1).map((id) => entry(id)))
        await assert.rejects(attach(...ids.map((id) => entry(id))), /at most 8/)
        const [one = '', two = '', three = ''] = ids
        await assert.rejects(attach(entry(one), entry(one)), /attached twice/)
        await stores().archive(two)
        await assert.rejects(attach(entry(two)), BadRequestError)
        await stores().delete(three)
        await assert.rejects(attach(entry(three)), NotFoundError)
        const { key } = await service.otherWorkspace(fresh('other'))
        const headers = { 'x-api-key': key, 'vendor-beta': 'agent-memory-2026-07-22' }
        const foreign = await service.ask('POST', '/v1/memory_stores', { name: 'theirs' }, headers)
        assert.equal(foreign.status, 200)
        await assert.rejects(attach(entry(foreign.body.id)), NotFoundError)
        const long = { instructions: 'x'.repeat(4097) }
        await assert.rejects(attach(entry(one, long)), BadRequestError)
        await attach(entry(one, { instructions: 'x'.repeat(4096) }))
      },
    )

    verifies(
      ['agents/memory-store/attached'],
      "an agent's own store is attached to its sessions, unless they name it themselves",
      async () => {
        const { id } = await stores().create({ name: 'own' })
        const other = await stores().create({ name: 'another' })
        const facts = async (session: string) =>
          (await shown(session)).map(
            (each) => each.type === 'memory_store' && [each.memory_store_id, each.access],
          )
        const agent = { memory_store_id: id }
        assert.deepEqual(await facts(await newSession(service, agent)), [[id, 'read_write']])
        const both = await newSession(service, agent, { resources: [entry(other.id)] })
        assert.deepEqual(await facts(both), [
          [other.id, 'read_write'],
          [id, 'read_write'],
        ])
        const named = { resources: [entry(id, { access: 'read_only' })] }
        assert.deepEqual(await facts(await newSession(service, agent, named)), [[id, 'read_only']])
        await stores().archive(id)
        await assert.rejects(newSession(service, agent), /agent\.memory_store_id/)
      },
    )
  })
}

describe('memory stores where commands run on the host', () => {
  let service: TestService
  before(
    async () =>
      void (service = await boot('sqlite', {
        env: { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'disabled' },
      })),
  )
  after(() => service.close())

  verifies(
    ['resources/memory-store/local-refused', 'errors/case/local-read-write'],
    'a store with write access is refused before there is a session',
    async () => {
      const { id } = await service.client.beta.memoryStores.create({ name: 'notes' })
      const resources = [{ type: 'memory_store', memory_store_id: id }]
      await assert.rejects(newSession(service, {}, { resources }), /read_only/)
      await assert.rejects(newSession(service, { memory_store_id: id }), /read_only/)
      const { data } = await service.client.beta.sessions.list()
      assert.deepEqual(data, [])
    },
  )
})
