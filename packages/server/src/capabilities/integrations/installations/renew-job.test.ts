import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { renewJob } from './renew-job.ts'
import { rows } from '../../../ground/database/rows.ts'

const minuteMs = 60_000
const tenant_id = 'wrkspc_1'

const addWorkspace = (db: Database, archived_at: string | null): Promise<unknown> =>
  db.write((tx) =>
    tx
      .insertInto('workspaces')
      .values({ id: tenant_id, name: 'one', archived_at, deleted_at: null, created_at: iso(0) })
      .execute(),
  )

const insert = (db: Database, ids: readonly string[]) =>
  db.write(async (tx) => {
    for (const [n, id] of ids.entries())
      await rows(tx, 'publications').insert({
        ...{ tenant_id, id, integration: 'linear', installation_id: 'inst_1', status: 'live' },
        ...{ agent_id: 'agent_1', agent_version: null, environment_id: 'env_1' },
        ...{ vault_id: null, token_due_ms: n, sealed_secrets: null, known_ids: null, metadata: {} },
        ...{ created_at: iso(0), updated_at: iso(0), spec: { vault_ids: [] } },
      })
  })

async function started(open: (typeof databases)['sqlite']) {
  const opened = await open()
  const { database: db } = opened
  const clock = movedClock()
  const renewed: string[] = []
  const job = renewJob({
    ...testGround(db, { clock }),
    async renewAccess(_, { id }) {
      renewed.push(id)
      if (id.startsWith('bad')) throw new Error('the provider gives no token')
    },
    renewCheckout: () => Promise.resolve(),
  })
  const { signal } = new AbortController()
  return {
    ...{ db, clock },
    async run(): Promise<string[]> {
      renewed.length = 0
      await job.run(signal)
      return renewed
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

describe('the job that renews tokens', () => {
  it('tries failed renewals after growing pauses, so that they keep nobody from a turn', async () => {
    await using given = await started(databases.sqlite)
    await given.clock.pass(minuteMs)
    await addWorkspace(given.db, null)
    const bad = Array.from({ length: 250 }, (_, n) => `bad_${n}`)
    await insert(given.db, [...bad, 'good'])
    assert.equal((await given.run()).length, 200)
    assert.equal((await given.run()).length, 51)
    assert.deepEqual(await given.run(), ['good'])
    await given.clock.pass(2 * minuteMs)
    assert.equal((await given.run()).length, 200)
    await given.run()
    await given.clock.pass(2 * minuteMs)
    assert.deepEqual(await given.run(), ['good'])
  })

  it('asks for no token of a workspace that is archived', async () => {
    await using given = await started(databases.sqlite)
    await given.clock.pass(minuteMs)
    await addWorkspace(given.db, iso(0))
    await insert(given.db, ['good'])
    assert.deepEqual(await given.run(), [])
  })
})
