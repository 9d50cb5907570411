import { noRules } from '../../../ground/core/rules/rules.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { blobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { askedCall, confirm, needsAction, ranCall } from '../../../sessions/events/fixture.ts'
import { postEventsNow } from '../../../sessions/events/fixture.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { keepEvents, tenant } from '../../../sessions/log/fixture.ts'
import { tellThread } from './tell.ts'
import { rows } from '../../../ground/database/rows.ts'

const refuse = () => assert.fail('nothing is sent')

const refusing = {
  ...{ get: refuse, put: refuse, head: refuse, list: refuse },
  ...{ delete: refuse, deleteBelow: refuse },
}

/** A thread that was told all of its session's log, and a look at it: the milliseconds until the next look. */
async function threadOf(open: (typeof databases)['sqlite'], log: NewEvent[]) {
  const opened = await open()
  const { database: db } = opened
  const clock = movedClock()
  const session_id = await newSession(db)
  await keepEvents(db, session_id, log)
  const ids = { tenant_id: tenant, id: 'thread_1', publication_id: 'pub_1' }
  await db.write(async (tx) => {
    const at = { created_at: iso(0), updated_at: iso(0) }
    const workspace = { id: tenant, name: 'one', archived_at: null, deleted_at: null }
    await tx
      .insertInto('workspaces')
      .values({ ...workspace, created_at: iso(0) })
      .execute()
    await rows(tx, 'publications').insert({
      ...{ tenant_id: tenant, id: 'pub_1', integration: 'webhook', installation_id: null },
      ...{ agent_id: 'agent_1', agent_version: null, environment_id: 'env_1', status: 'live' },
      ...{
        vault_id: null,
        token_due_ms: null,
        sealed_secrets: null,
        known_ids: null,
        metadata: {},
        ...at,
      },
      spec: { vault_ids: [] },
    })
    await rows(tx, 'integration_threads').insert({
      ...{ ...ids, scope: '1', session_id, target: {}, notes: {}, first: null, begun: null },
      ...{ told_seq: Number.MAX_SAFE_INTEGER, told_parts: 0, due_ms: clock.now() },
      ...{
        token_due_ms: null,
        reads_only: null,
        wakes: null,
        turn_target: null,
        owner: null,
        expires_at: 0,
      },
    })
  })
  const ground = testGround(db, { clock, log: jsonLog(refuse) })
  const deps = {
    ...ground,
    ...{ apps: new Map(), holds: new Map(), limits: { rules: noRules } },
    ...{ send: refuse, sendToProvider: refuse, uploadToProvider: refuse },
    keeping: blobKeeping({ ...ground, blobs: refusing, holders: [] }),
  }
  return {
    ...{ db, session_id },
    async look() {
      const { signal } = new AbortController()
      const { session: _, ...found } =
        (await tellThread(deps, { db, tenant, signal }, ids.id)) ?? {}
      const row = await rows(db.read, 'integration_threads').find(tenant, ids.id)
      return { ...found, dueMs: (row?.due_ms ?? NaN) - clock.now() }
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

const byWorker = { executed_by: 'worker' } as const

for (const [name, open] of Object.entries(databases)) {
  describe(`a thread that receives tellings, on ${name}`, () => {
    it('looks soon while a worker runs calls, and seldom while people are asked', async () => {
      const run = { ...ranCall(), ...byWorker }
      await using running = await threadOf(open, [run, needsAction(run.id)])
      assert.deepEqual(await running.look(), { isRunning: true, dueMs: 5_000 })
      const asked = { ...askedCall(), ...byWorker }
      const both = [run, asked, needsAction(run.id, asked.id)]
      await using asking = await threadOf(open, both)
      assert.deepEqual(await asking.look(), { isRunning: true, dueMs: 60_000 })
      await postEventsNow(asking.db, asking.session_id, [confirm(asked.id)])
      assert.deepEqual(await asking.look(), { isRunning: true, dueMs: 5_000 })
    })
  })
}
