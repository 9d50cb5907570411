import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { StopReason } from '@steward/protocol/events.ts'
import { systemClock as clock } from '@steward/base/time.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { diskBlobs } from '../../ground/blobs/disk.ts'
import { blobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import type { Database } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { heldByFile } from '../../resources/files/store.ts'
import { storeIn } from '../../resources/memory-stores/fixture.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { dyingDatabase, newSession } from '../../sessions/fixture.ts'
import { keepEvents, agentMessage, tenant } from '../../sessions/log/fixture.ts'
import { createOpening } from '../../sessions/opening-fixture.ts'
import { driveDream } from './drive-dream.ts'
import { createDream } from './write.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { rows } from '../../ground/database/rows.ts'

/** Enough memories that two commits copy them. */
const memories = 21
const ended = toJson<StopReason>({ type: 'end_turn' })

/** The parts of a process with this database. */
async function depsOf(
  { database: db, bus }: TestDatabase,
  folder: string,
): Promise<OpenSessionDeps> {
  const blobs = await diskBlobs(folder)
  return {
    ...createOpening(db, { bus }),
    keeping: blobKeeping({ databases: oneDatabase(db), blobs, clock, holders: [heldByFile] }),
  }
}

for (const [name, open] of Object.entries(databases)) {
  describe(`a dream whose process dies on ${name}`, () => {
    // verifies: dreams/crash
    it('goes on at the step that was not done, and has one session and one store', async () => {
      await using opened = await open()
      const { database } = opened
      const { read } = database
      const folder = await mkdtemp(join(tmpdir(), 'steward-dreams-'))
      const input = await storeIn(database)
      for (let n = 0; n < memories; n++)
        await input.create(0, { path: `/${n}.md`, content: `${n}` })
      const session = await newSession(database)
      await keepEvents(database, session, [agentMessage('x')])

      /** Stands for a runner: a session that exists has ended its turn. */
      const withRunner = (db: Database): Database => ({
        ...db,
        async write(unit) {
          const result = await db.write(unit)
          const idle = {
            status: 'idle',
            due: 0,
            stop_reason: ended,
          } as const
          await database.writeStatement((tx) =>
            tx.updateTable('session_heads').set(idle).where('due', '=', 1).execute(),
          )
          return result
        },
      })

      /** True when the dream has stopped; false when the process died before. */
      async function drive(db: Database, id: string): Promise<boolean> {
        const { signal } = new AbortController()
        const setup = { db: withRunner(db), tenant, id, signal, canceled: signal }
        try {
          await driveDream(await depsOf({ ...opened, database: db }, folder), setup)
          return true
        } catch (error) {
          assert.ok(error instanceof StorageError, String(error))
          return false
        }
      }

      let last = 0
      for (let isWhole = false; !isWhole;) {
        const body = {
          inputs: [
            { type: 'memory_store' as const, memory_store_id: input.id },
            { type: 'sessions' as const, session_ids: [session] },
          ],
          model: 'offline',
        }
        const actor = { type: 'api_actor' as const, api_key_id: 'key_test' }
        const { id } = await createDream(
          testGround(database),
          { db: database, tenant },
          { body, actor },
        )
        isWhole = await drive(dyingDatabase(database, ++last), id)
        assert.equal(await drive(database, id), true)
        const { status, error, stopped, output_store_id, session_id } = await rows(
          read,
          'dreams',
        ).get(tenant, id)
        assert.deepEqual([status, error, stopped], ['completed', null, 1], `write ${last}`)
        const sessions = await read
          .selectFrom('sessions')
          .select(['id', 'archived_at'])
          .where('title', '=', `Dream ${id}`)
          .execute()
        assert.deepEqual(
          sessions.map((each) => [each.id, each.archived_at !== null]),
          [[session_id, true]],
        )
        const copied = await read
          .selectFrom('memories')
          .select('path')
          .where('store_id', '=', output_store_id ?? '')
          .execute()
        assert.equal(copied.length, memories)
        const stores = await read.selectFrom('memory_stores').select('id').execute()
        assert.equal(stores.length, 1 + last)
      }
      assert.ok(last > 7, `${last} writes`)
      await rm(folder, { recursive: true, force: true })
    })
  })
}
