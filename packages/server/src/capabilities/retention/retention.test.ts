import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { dayMs } from '@steward/base/settings/kinds.ts'
import type { RetentionDays } from '@steward/protocol/rules.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso, systemClock } from '@steward/base/time.ts'
import type { HoldScope } from '@steward/protocol/holds.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { fileStore } from '../../resources/files/store.ts'
import { dyingDatabase, newSession } from '../../sessions/fixture.ts'
import { agentMessage, keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { lineStore } from '../../tenants/audit/store.ts'
import { chainAll } from '../../tenants/audit/chain.ts'
import { verifyChains } from '../../tenants/audit/verify.ts'
import { makeHold, releaseHold } from '../../tenants/workspaces/holds/holds.ts'
import { ruleStore } from '../../tenants/limits/rules/store.ts'
import type { OperatorDays } from './days.ts'
import { countDue } from './store.ts'
import { keepForDays } from './job.ts'

const nothing: OperatorDays = { usual: {}, most: {} }
const other = 'wrkspc_other'
const later = 1_000 * dayMs
const clock: Clock = { ...systemClock, now: () => later }

async function opened(open: (typeof databases)['sqlite'], own: RetentionDays = {}) {
  const at = await open()
  const { database } = at
  const ground = testGround(database, { clock })
  for (const id of [tenant, other])
    await database.write((tx) =>
      tx
        .insertInto('workspaces')
        .values({ id, name: id, archived_at: null, deleted_at: null, created_at: iso(0) })
        .execute(),
    )
  await database.write((tx) =>
    ruleStore(tx).change(tenant, (kept) => ({ ...kept, retention: own }), 0),
  )
  return {
    ...{ database, ground },
    /** One call of the job, as if the process had just started. */
    run: (days: OperatorDays = nothing, over: Database = database) =>
      keepForDays({ ...testGround(over, { clock }), retentionDays: days })(
        new AbortController().signal,
      ),
    lines: async () =>
      (await database.read.selectFrom('audit_lines').selectAll().orderBy('id').execute()).filter(
        ({ action }) => action === 'retention.remove',
      ),
    hold: (scope: HoldScope) => makeHold(ground, tenant, { scope, reason: 'case 4711' }),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  }
}

/** Sessions that are still there, by id. */
const sessionsOf = async (database: Database) => {
  const rows = await database.read
    .selectFrom('sessions')
    .select('id')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function newFile(
  database: Database,
  made: { origin: 'upload' | 'output'; at: number; session_id?: string },
): Promise<string> {
  const id = newId('file')
  await database.write((tx) =>
    fileStore(tx).insert({
      ...{ tenant_id: tenant, id, session_id: made.session_id ?? null, origin: made.origin },
      ...{ filename: 'a', mime_type: 'text/plain', size_bytes: 3, sha256: hash('sha256', 'abc') },
      ...{ blob_key: `files/${tenant}/${id}`, downloadable: 1, expires_at: null },
      created_at: iso(made.at),
    }),
  )
  return id
}

const filesOf = async (database: Database) =>
  (await database.read.selectFrom('files').select('id').orderBy('id').execute()).map(({ id }) => id)

const untouched = async (database: Database, id: string, ms: number, set: object = {}) =>
  database.write((tx) =>
    tx
      .updateTable('session_heads')
      .set({ changed_ms: ms, ...set })
      .where('session_id', '=', id)
      .execute(),
  )

for (const [dialect, open] of Object.entries(databases)) {
  describe(`retention on ${dialect}`, () => {
    it('removes sessions that rest for longer than their days, and keeps the others', async () => {
      await using at = await opened(open, { sessions: 30 })
      const { database } = at
      const old = await newSession(database)
      const archived = await newSession(database, 'done')
      const young = await newSession(database)
      await untouched(database, young, later - 29 * dayMs)
      const running = await newSession(database, 'running')
      const due = await newSession(database)
      await untouched(database, due, 0, { due: 1 })
      const waking = await newSession(database)
      await untouched(database, waking, 0, { idle_since_ms: later - dayMs })
      const elsewhere = await newSession(database, 'idle', other)
      assert.equal(await at.run(), true)
      assert.deepEqual(await sessionsOf(database), [young, running, due, waking, elsewhere])
      const removed = (await at.lines()).map(({ resource_id }) => resource_id)
      assert.deepEqual(new Set(removed), new Set([old, archived]))
    })

    it('writes the rule, the numbers and a digest of the events in the line of a session', async () => {
      await using at = await opened(open, { sessions: 30 })
      const { database } = at
      const session = await newSession(database)
      const events = [agentMessage('a'), agentMessage('b')]
      await keepEvents(database, session, events)
      await newFile(database, { origin: 'output', at: 0, session_id: session })
      await at.run()
      const [line, ...others] = await at.lines()
      assert.deepEqual(others, [])
      assert.deepEqual(
        [line?.resource_type, line?.resource_id, line?.actor_type, line?.tenant_id],
        ['session', session, 'retention', tenant],
      )
      assert.deepEqual(JSON.parse(line?.before_fields ?? ''), {
        ...{ rule: 'sessions', days: 30, created_at: iso(0), agent_id: 'agent_test' },
        ...{ files: 1, file_bytes: 3, events: 2 },
        events_sha256: hash('sha256', events.map(({ id }) => `${id}\n`).join('')),
      })
      assert.deepEqual(await filesOf(database), [])
      const keys = [Buffer.alloc(32, 1)] as const
      await chainAll({ database, keys, now: () => later })
      const verdicts = await Array.fromAsync(verifyChains(at.ground.databases, { keys, tenant }))
      assert.ok(verdicts.length > 0 && verdicts.every(({ ok, unchained }) => ok && unchained === 0))
    })

    it('removes uploads and outputs by their own days, with a line for each', async () => {
      await using at = await opened(open, { files: 10, outputs: 20 })
      const { database } = at
      const old = later - 15 * dayMs
      const [upload, output, older] = [
        await newFile(database, { origin: 'upload', at: old }),
        await newFile(database, { origin: 'output', at: old }),
        await newFile(database, { origin: 'output', at: later - 21 * dayMs }),
      ]
      const young = await newFile(database, { origin: 'upload', at: later - 9 * dayMs })
      await at.run()
      assert.deepEqual(await filesOf(database), [output, young].toSorted())
      const lines = await at.lines()
      assert.deepEqual(
        new Set(lines.map(({ resource_id }) => resource_id)),
        new Set([upload, older]),
      )
      assert.equal(JSON.parse(lines[0]?.before_fields ?? '').sha256, hash('sha256', 'abc'))
      const loose = await database.read.selectFrom('loose_blobs').select('blob_key').execute()
      assert.equal(loose.length, 2, 'their bytes are marked for removal')
    })

    it('removes versions of memories other than what a memory holds, and one line counts them', async () => {
      await using at = await opened(open, { memory_versions: 5 })
      const { database } = at
      const ids = ['memver_1', 'memver_2', 'memver_3']
      await database.write(async (tx) => {
        for (const id of ids)
          await tx
            .insertInto('memory_versions')
            .values({
              ...{ tenant_id: tenant, id, store_id: 's', memory_id: 'm', operation: 'modified' },
              ...{ path: 'a', sha256: 'x', size: 7, api_key_id: 'k', session_id: null },
              ...{ redacted_by: null, redacted_at: null, expires_at: null, content: 'text' },
              created_at: iso(0),
            })
            .execute()
        await tx
          .insertInto('memories')
          .values({
            ...{ tenant_id: tenant, id: 'm', store_id: 's', version_id: 'memver_3', path: 'a' },
            ...{ sha256: 'x', size: 7, created_at: iso(0), updated_at: iso(0), content: 'text' },
          })
          .execute()
      })
      await at.run()
      const left = await database.read.selectFrom('memory_versions').select('id').execute()
      assert.deepEqual(
        left.map(({ id }) => id),
        ['memver_3'],
      )
      const [line] = await at.lines()
      const { count, bytes, ids_sha256 } = JSON.parse(line?.before_fields ?? '')
      assert.deepEqual(
        [line?.resource_type, count, bytes, ids_sha256],
        ['memory_version', 2, 14, hash('sha256', 'memver_1\nmemver_2\n')],
      )
    })

    it('keeps nothing for longer than the operator allows, and else what the workspace says', async () => {
      await using at = await opened(open, { sessions: null })
      const { database } = at
      await newSession(database)
      await at.run({ usual: { sessions: 1 }, most: {} })
      assert.equal((await sessionsOf(database)).length, 1, 'the workspace keeps everything')
      await at.run({ usual: {}, most: { sessions: 999 } })
      assert.deepEqual(await sessionsOf(database), [])
    })

    for (const scope of ['workspace', 'session', 'person'] as const)
      it(`removes nothing that a hold on a ${scope} keeps, until it is released`, async () => {
        await using at = await opened(open, { sessions: 30, outputs: 30 })
        const { database } = at
        const held = await newSession(database)
        const free = await newSession(database)
        await database.write((tx) =>
          tx
            .updateTable('sessions')
            .set({ creator_type: 'user', creator_id: 'user_1' })
            .where('id', '=', held)
            .execute(),
        )
        if (scope === 'person') await person(database, 'user_1')
        const output = await newFile(database, { origin: 'output', at: 0, session_id: held })
        const scopes = {
          workspace: { type: 'workspace' },
          session: { type: 'session', session_id: held },
          person: { type: 'person', person_id: 'user_1' },
        } as const
        const { id } = await at.hold(scopes[scope])
        const cutoff = { tenant, beforeMs: later - 30 * dayMs }
        const heldRows = scope === 'workspace' ? 2 : 1
        assert.equal(await countDue(database.read, 'sessions', cutoff), 2 - heldRows)
        assert.equal(
          await countDue(database.read, 'sessions', { ...cutoff, isHeld: true }),
          heldRows,
        )
        await at.run()
        assert.deepEqual(await sessionsOf(database), scope === 'workspace' ? [held, free] : [held])
        assert.deepEqual(await filesOf(database), [output])
        await releaseHold(at.ground, tenant, id)
        await at.run()
        assert.deepEqual(await sessionsOf(database), [])
        assert.deepEqual(await filesOf(database), [])
      })

    it('removes a part for each workspace in a run, and says that more is left', async () => {
      await using at = await opened(open, { sessions: 30 })
      const { database } = at
      const ids: string[] = []
      for (let count = 0; count < 21; count++) ids.push(await newSession(database))
      assert.equal(await at.run(), false)
      assert.equal((await sessionsOf(database)).length, 1)
      assert.equal(await at.run(), true)
      assert.equal((await at.lines()).length, 21)
    })

    it('goes on after a kill at any write, and reports each removal once', async () => {
      for (let last = 1; last <= 5; last++) {
        await using at = await opened(open, { sessions: 30, files: 30 })
        const { database } = at
        for (let count = 0; count < 2; count++) await newSession(database)
        await newFile(database, { origin: 'upload', at: 0 })
        await at.run(nothing, dyingDatabase(database, last)).catch((error: unknown) => {
          assert.ok(error instanceof StorageError)
        })
        await at.run()
        assert.deepEqual(await sessionsOf(database), [])
        assert.deepEqual(await filesOf(database), [])
        const told = (await at.lines()).map(({ resource_id }) => resource_id)
        assert.equal(new Set(told).size, 3)
        assert.equal(told.length, 3)
      }
    })

    it('shows the lines of removals in the list of the audit', async () => {
      await using at = await opened(open, { sessions: 30 })
      const session = await newSession(at.database)
      await at.run()
      const paging = { limit: 10, order: 'desc', from: undefined } as const
      const { rows } = await lineStore(at.database.read).list(
        tenant,
        { resource_id: session, action: 'retention.remove' },
        paging,
      )
      assert.deepEqual(
        rows.map(({ resource_id }) => resource_id),
        [session],
      )
    })
  })
}

const person = (database: Database, id: string) =>
  database.write((tx) =>
    tx
      .insertInto('people')
      .values({
        ...{ id, email: `${id}@example.com`, email_verified: 1, name: 'Ada', operator: 0 },
        ...{ created_at: iso(0), updated_at: iso(0) },
      })
      .execute(),
  )
