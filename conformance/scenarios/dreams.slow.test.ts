import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import { threadStore } from '@steward/server/sessions/log/threads/store.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type ShownDream = Anthropic.Beta.BetaDream
type DreamParams = Anthropic.Beta.DreamCreateParams

const isOpen = ({ status }: ShownDream) => status === 'pending' || status === 'running'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`dreams on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const beta = () => service.client.beta

    async function subject(name = fresh('Notes')) {
      const store = await beta().memoryStores.create({ name })
      await beta().memoryStores.memories.create(store.id, { path: '/old.md', content: 'kept' })
      const session = await newSession(service)
      await beta().sessions.events.send(session, {
        events: [
          { type: 'user.message', content: [{ type: 'text', text: 'say: the port is 4711' }] },
        ],
      })
      await until(async () => (await beta().sessions.retrieve(session)).status === 'idle')
      return { store: store.id, session }
    }

    /** Writes an event of a child thread, which no list of the session contains. */
    async function addChildEvent(session: string, words: string): Promise<void> {
      const ref = { tenant_id: await tenantOf(session), session_id: session, id: 'sthr_child' }
      const message = await service.tenantDatabase.read
        .selectFrom('events')
        .selectAll()
        .where('session_id', '=', session)
        .where('type', '=', 'agent.message')
        .executeTakeFirstOrThrow()
      const data = JSON.stringify({ content: [{ type: 'text', text: words }] })
      const event = { ...message, id: `${message.id}c`, seq: 1_000, data, thread_id: ref.id }
      await service.tenantDatabase.write(async (tx) => {
        const child = { kind: 'agent', name: 'c', agent: '', url_servers: 0 } as const
        await threadStore(tx).insert({ ...ref, ...child }, Date.now())
        await tx.insertInto('events').values(event).execute()
      })
    }

    async function addDreamsLike(id: string, count: number): Promise<void> {
      const { tenantDatabase } = service
      const row = await tenantDatabase.read
        .selectFrom('dreams')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const rows = Array.from({ length: count }, (_, n) => ({ ...row, id: `${id}${n}` }))
      await tenantDatabase.write((tx) => tx.insertInto('dreams').values(rows).execute())
    }

    async function tenantOf(session: string): Promise<string> {
      const { tenant_id } = await service.tenantDatabase.read
        .selectFrom('sessions')
        .select('tenant_id')
        .where('id', '=', session)
        .executeTakeFirstOrThrow()
      return tenant_id
    }

    const dreamOf = (
      { store, session }: { store: string; session: string },
      more: Partial<DreamParams> = {},
    ) =>
      beta().dreams.create({
        inputs: [
          { type: 'sessions', session_ids: [session] },
          { type: 'memory_store', memory_store_id: store },
        ],
        model: 'offline',
        ...more,
      })

    async function endOf(id: string): Promise<ShownDream> {
      let dream = await beta().dreams.retrieve(id)
      await until(async () => {
        dream = await beta().dreams.retrieve(id)
        return !isOpen(dream)
      })
      return dream
    }

    const writes = (store: string) => ({ type: 'update_existing' as const, memory_store_id: store })

    async function memoriesOf(store: string) {
      const found = await Array.fromAsync(
        beta().memoryStores.memories.list(store, { view: 'full' }),
      )
      return Object.fromEntries(
        found.map((each) => (each.type === 'memory' ? [each.path, each.content] : [each.path, ''])),
      )
    }

    verifies(
      ['dreams/create', 'dreams/get', 'dreams/session', 'dreams/create-new', 'dreams/usage'],
      'a dream reads transcripts, and writes to a copy of the store',
      async () => {
        const given = await subject('Team notes')
        await addChildEvent(given.session, 'port is 4712')
        const made = await dreamOf(given, {
          instructions: `run: grep -ho 'port is [0-9]*' /mnt/session/uploads/transcripts/${given.session}.jsonl | sort -u > /mnt/memory/team-notes/port.md`,
        })
        assert.match(made.id, /^drm_/)
        assert.deepEqual(
          [made.status, made.outputs, made.session_id, made.ended_at, made.usage.input_tokens],
          ['pending', [], null, null, 0],
        )
        assert.deepEqual(made.output_behavior, { type: 'create_new' })
        const ended = await endOf(made.id)
        assert.equal(ended.error, null)
        assert.equal(ended.status, 'completed')
        assert.ok(ended.usage.input_tokens > 0)
        const output = ended.outputs[0]?.memory_store_id ?? ''
        assert.deepEqual(await memoriesOf(output), {
          '/old.md': 'kept',
          '/port.md': 'port is 4711\nport is 4712\n',
        })
        assert.deepEqual(await memoriesOf(given.store), { '/old.md': 'kept' })
        const session = await beta().sessions.retrieve(ended.session_id ?? '')
        assert.equal(session.title, `Dream ${made.id}`)
        const files = await Array.fromAsync(beta().files.list())
        assert.deepEqual(
          files.filter(({ filename, scope }) => filename.endsWith('.jsonl') && !scope),
          [],
        )
      },
    )

    verifies(
      ['dreams/update-existing', 'dreams/cancel', 'dreams/archive', 'dreams/list', 'lists/short'],
      'only one dream at a time writes to a store, until it has fully stopped',
      async () => {
        const given = await subject()
        const held = { output_behavior: writes(given.store) }
        const first = await dreamOf(given, { ...held, instructions: 'wait: 600000' })
        const refused = await dreamOf(given, held).catch((error: unknown) => error)
        assert.ok(refused instanceof ConflictError)
        assert.equal(refused.headers.get('x-should-retry'), 'false')
        assert.match(refused.message, new RegExp(first.id))
        await assert.rejects(beta().dreams.archive(first.id), BadRequestError)
        await until(async () => (await beta().dreams.retrieve(first.id)).session_id !== null)
        const canceled = await beta().dreams.cancel(first.id)
        assert.equal(canceled.status, 'canceled')
        assert.ok(canceled.ended_at)
        assert.equal((await beta().dreams.cancel(first.id)).ended_at, canceled.ended_at)
        let second: ShownDream | undefined
        await until(async () => {
          second = await dreamOf(given, held).catch((error: unknown) => {
            assert.ok(error instanceof ConflictError)
            return undefined
          })
          return second !== undefined
        })
        const ended = await endOf(second?.id ?? '')
        assert.deepEqual(
          [ended.status, ended.outputs],
          ['completed', [{ type: 'memory_store', memory_store_id: given.store }]],
        )
        await assert.rejects(beta().dreams.cancel(ended.id), BadRequestError)
        const archived = await beta().dreams.archive(first.id)
        assert.ok(archived.archived_at)
        assert.deepEqual(await beta().dreams.archive(first.id), archived)
        const ids = async (query: Anthropic.Beta.DreamListParams) =>
          (await Array.fromAsync(beta().dreams.list(query))).map(({ id }) => id)
        assert.deepEqual(await ids({ statuses: ['canceled'] }), [])
        assert.deepEqual(await ids({ statuses: ['canceled', 'failed'], include_archived: true }), [
          first.id,
        ])
        assert.ok((await ids({})).includes(ended.id))
        const between = { 'created_at[gt]': first.created_at, 'created_at[lt]': ended.created_at }
        assert.deepEqual(await ids(between), [])
        assert.ok((await ids({ 'created_at[gt]': first.created_at })).includes(ended.id))
        await addDreamsLike(ended.id, 20)
        const page = await beta().dreams.list()
        assert.deepEqual([page.data.length, page.hasNextPage()], [20, true])
        assert.ok((await beta().dreams.list({ limit: 100 })).data.length > 20)
        await assert.rejects(beta().dreams.list({ limit: 101 }), BadRequestError)
      },
    )

    verifies(
      ['dreams/inputs', 'dreams/failed'],
      'an input that a dream cannot read is refused, and the dream says why it ended',
      async () => {
        const given = await subject()
        await assert.rejects(dreamOf({ ...given, session: 'sesn_of_nobody' }), NotFoundError)
        await assert.rejects(dreamOf({ ...given, store: 'memstore_of_nobody' }), NotFoundError)
        const { key } = await service.otherWorkspace(fresh('theirs'))
        const make = async (path: string, body: object) =>
          (await service.ask('POST', path, body, { 'x-api-key': key })).body.id
        const agent = await make('/v1/agents', { name: 'theirs', model: 'offline', tools: [] })
        const environment_id = await make('/v1/environments', { name: 'theirs' })
        const theirs = await make('/v1/sessions', { agent, environment_id })
        assert.match(theirs, /^sesn_/)
        await assert.rejects(dreamOf({ ...given, session: theirs }), NotFoundError)
        await assert.rejects(
          dreamOf(given, { output_behavior: writes('memstore_other') }),
          BadRequestError,
        )
        await assert.rejects(
          dreamOf(given, { inputs: [{ type: 'sessions', session_ids: [given.session] }] }),
          BadRequestError,
        )
        const failed = await endOf((await dreamOf(given, { instructions: 'fail: billing' })).id)
        assert.deepEqual([failed.status, failed.error?.type], ['failed', 'turn_failed'])
        assert.equal(failed.outputs.length, 1)
        const row = await service.tenantDatabase.read
          .selectFrom('dreams')
          .selectAll()
          .where('id', '=', failed.id)
          .executeTakeFirstOrThrow()
        const session_ids = 'null' as typeof row.session_ids
        const open = { status: 'pending', stopped: 0, ended_at: null, session_id: null } as const
        const broken = { ...row, ...open, id: 'drm_broken', session_ids, error: null }
        await service.ask('POST', '/v1/ext/quotas/memory_stores', { limit: 1 })
        const full = await endOf((await dreamOf(given)).id)
        assert.deepEqual([full.status, full.error?.type], ['failed', 'quota_exceeded'])
        await service.ask('POST', '/v1/ext/quotas/memory_stores', { limit: null })
        await service.tenantDatabase.write((tx) => tx.insertInto('dreams').values(broken).execute())
        await beta().dreams.cancel((await dreamOf(given)).id)
        const ended = await endOf(broken.id)
        assert.deepEqual([ended.status, ended.error?.type], ['failed', 'internal_error'])
        await beta().memoryStores.archive(given.store)
        await assert.rejects(dreamOf(given), BadRequestError)
      },
    )
  })
}
