import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { StorageError } from '../ground/core/errors.ts'
import { newId, primaryThreadId } from '../ground/core/text/ids.ts'
import type { Database } from '../ground/database/database.ts'
import { openFilePerTenant } from '../ground/database/per-tenant/fixture.ts'
import { testGround } from '../ground/ground-fixture.ts'
import { newSession } from './fixture.ts'
import { wakeupStore } from './rows/wakeups.ts'
import { wakeupJob } from './wakeup-job.ts'

const tenants = ['wrkspc_a', 'wrkspc_b']

async function sleepingSession(database: Database, tenant: string): Promise<string> {
  const session_id = await newSession(database, 'idle', tenant)
  const ids = { session_id, thread_id: primaryThreadId(session_id), event_id: newId('event') }
  const row = { tenant_id: tenant, ...ids, due_ms: 0, note: 'x'.repeat(2_000) }
  await database.write((tx) => wakeupStore(tx).insert(row))
  return session_id
}

/** Fills the file with messages, until not even a short one finds room. */
async function fill(database: Database, session: string): Promise<void> {
  for (const length of [100_000, 1_000, 1]) {
    const message = () => ({
      ...{ tenant_id: 'wrkspc_a', session_id: session, type: 'user.message' },
      ...{ id: newId('event'), event: 'x'.repeat(length), bytes_before: 0, created_at: '' },
    })
    const insert = (position: number) =>
      database.write((tx) =>
        tx
          .insertInto('inbox')
          .values({ ...message(), position })
          .execute(),
      )
    for (let position = -1; ; position--) {
      const isFull = await insert(position - length * 10).then(
        () => false,
        (error: unknown) => error instanceof StorageError,
      )
      if (isFull) break
    }
  }
}

const isAsleep = async ({ read }: Database): Promise<boolean> =>
  (await wakeupStore(read).before(Infinity, 1)).length > 0

describe('the job of wakeups', () => {
  it('wakes the sessions of a workspace beside one whose file is full', async () => {
    await using at = await openFilePerTenant(tenants, { mostBytes: 2_000_000 })
    const { databases } = at
    const [full, other] = [await databases.open('wrkspc_a'), await databases.open('wrkspc_b')]
    await fill(full, await sleepingSession(full, 'wrkspc_a'))
    await sleepingSession(other, 'wrkspc_b')
    const job = wakeupJob(testGround(databases, { clock: movedClock() }))
    await assert.rejects(job.run(AbortSignal.timeout(60_000)), StorageError)
    assert.equal(await isAsleep(full), true)
    assert.equal(await isAsleep(other), false)
  })
})
