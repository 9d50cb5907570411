import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ClientEvent } from '@steward/protocol/events.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { answer, custom, needsAction, system } from '../events/fixture.ts'
import { postInUnits } from '../events/post.ts'
import { newSession } from '../fixture.ts'
import { removeDeletedSessions } from '../job.ts'
import { archiveSession, deleteSession } from '../update.ts'
import { keepEvents, tenant } from './fixture.ts'
import { takeWaiting, readWaiting } from './inbox.ts'
import { appendEntries } from './append.ts'
import { readHistory, readLogPage } from './log.ts'
import { readLongText, removeLeftTexts } from './long-texts.ts'

const hour = 3_600_000
const clock = { ...systemClock, now: () => 0 }

/**
 * A text of some megabytes. Its surrogate pairs begin at odd places, so that the end of a piece falls within one of
 * them.
 */
const long = `a${'🙂'.repeat(1_500_000)}`
const message = (text: string): ClientEvent => ({
  type: 'user.message',
  content: [{ type: 'text', text }],
})

const posting = (database: Database, session: string, ...events: ClientEvent[]) =>
  postInUnits(database, { tenant, session, clock }, events)

const promote = (database: Database, session: string) =>
  database.write(async (tx) => {
    const entries = await takeWaiting(tx, tenant, session, 100)
    await appendEntries(tx, tenant, session, entries, { now: 0 })
  })

const count = async ({ read }: Database) => {
  const texts = await read.selectFrom('long_texts').select('event_id').execute()
  const pieces = await read.selectFrom('long_text_pieces').select('piece').execute()
  return { texts: texts.length, pieces: pieces.length }
}
const none = { texts: 0, pieces: 0 }

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a long message on ${dialect}`, () => {
    it('is read as it was posted, though its row in the log holds none of it', async () => {
      await using opened = await open()
      const { database } = opened
      const { read } = database
      const session = await newSession(database)
      const posted = await posting(database, session, message('short'), message(long))
      await promote(database, session)
      const fields = ['short', long].map((text) =>
        JSON.stringify({ content: [{ type: 'text', text }] }),
      )
      const page = await readLogPage(read, tenant, session, { limit: 10, bytes: 64 * 1024 * 1024 })
      assert.deepEqual(
        page.rows.map(({ id, data }) => ({ id, data: data === fields[0] || data === fields[1] })),
        posted.map(({ id }) => ({ id, data: true })),
      )
      assert.equal(page.size, Buffer.byteLength(fields.join('')))
      const range = { after: 0, types: ['user.message'] as const, limit: 10, bytes: 1_000_000 }
      const history = await readHistory(read, tenant, session, range)
      assert.deepEqual(
        history.rows.map(({ data }) => data.length),
        fields.map(({ length }) => length),
      )
      const kept = await read.selectFrom('events').select('data').orderBy('seq').execute()
      assert.deepEqual(
        kept.map(({ data }) => data),
        [fields[0], ''],
      )
    })

    it('fills its page: the next row comes with the next one', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      await posting(database, session, message(long), message('short'))
      await promote(database, session)
      const page = await readLogPage(database.read, tenant, session, { limit: 10, bytes: 1_000 })
      assert.deepEqual([page.rows.length, page.more], [1, true])
    })

    it('counts with all its bytes against the limit of waiting messages', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const bytes = Buffer.byteLength(JSON.stringify(message(long)))
      const fit = Math.floor((64 * 1024 * 1024) / bytes)
      for (let n = 0; n < fit; n++) await posting(database, session, message(long))
      const before = await count(database)
      await assert.rejects(posting(database, session, message(long)), /no room for more messages/)
      assert.deepEqual(await count(database), before)
    })

    it('is not kept if its request is refused', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const other: ClientEvent = {
        ...{ type: 'user.tool_confirmation', tool_use_id: 'sevt_none', result: 'allow' },
      }
      await assert.rejects(posting(database, session, message(long), other), /sevt_none/)
      assert.deepEqual(await count(database), none)
      await assert.rejects(posting(database, 'sesn_none', message(long)), /does not exist/)
      assert.deepEqual(await count(database), none)
    })

    it('goes an hour after the death of a process that had not admitted it', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const dying = { ...database, write: diesAfter(3, database) }
      await assert.rejects(posting(dying, session, message(long)), /killed/)
      assert.deepEqual(await count(database), { texts: 1, pieces: 2 })
      await posting(database, session, message(long))
      assert.ok(await removeLeftTexts(database, hour, 50))
      assert.equal((await count(database)).texts, 2)
      assert.ok(await removeLeftTexts(database, hour + 1, 50))
      assert.deepEqual(await count(database), { texts: 1, pieces: 3 })
    })

    it('is refused if its text was removed before it was admitted, and is not kept', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      for (const write of [3, 5]) {
        // A machine that slept for longer than the text waits for its message.
        const slow = beforeWrite(write, database, () => removeLeftTexts(database, hour + 1, 50))
        await assert.rejects(posting(slow, session, message(long)), /send it again/)
        assert.deepEqual(await count(database), none)
      }
      assert.deepEqual(await readWaiting(database.read, tenant, session), [])
    })

    it('is not kept if the disk is full before it is admitted', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const full = beforeWrite(4, database, async () => {
        throw new StorageError('full', new Error('no space'))
      })
      await assert.rejects(posting(full, session, message(long)), StorageError)
      assert.deepEqual(await count(database), none)
    })

    it('is refused before anything of it is kept where its session takes no more', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      await database.write((tx) => archiveSession(tx, tenant, session, 0))
      const untouched = beforeWrite(1, database, async () => assert.fail('something was kept'))
      await assert.rejects(posting(untouched, session, message(long)), /is archived/)
    })

    it('keeps its text in the log where it waits for no turn', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database, 'running')
      const call = custom()
      await keepEvents(database, session, [call, needsAction(call.id)])
      for (const _time of ['first', 'again'])
        await posting(database, session, answer(call.id), system(long))
      assert.deepEqual(await count(database), none)
    })

    it('is not read in part while it is removed', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const [echo] = await posting(database, session, message(long))
      const text = { id: echo?.id ?? '', bytes: Buffer.byteLength(echo?.data ?? '') }
      const ref = { tenant, session }
      assert.equal(await readLongText(database.read, ref, text), echo?.data)
      await database.write((tx) =>
        tx.deleteFrom('long_text_pieces').where('piece', '=', 2).execute(),
      )
      assert.equal(await readLongText(database.read, ref, text), undefined)
    })

    it('goes when it was cancelled before its turn', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      await posting(database, session, message(long))
      await database.write((tx) => archiveSession(tx, tenant, session, 0))
      assert.ok(await removeLeftTexts(database, 0, 50))
      assert.deepEqual(await count(database), none)
    })

    it('goes with the rows of its session', async () => {
      await using opened = await open()
      const { database } = opened
      const [gone, stays] = [await newSession(database), await newSession(database)]
      for (const session of [gone, stays]) {
        await posting(database, session, message(long))
        await promote(database, session)
      }
      await database.write((tx) => deleteSession(tx, tenant, gone, 0))
      await database.write((tx) => tx.updateTable('session_heads').set({ due: 0 }).execute())
      assert.ok(await removeDeletedSessions(database, 1 + hour, hour))
      assert.deepEqual(await count(database), { texts: 1, pieces: 3 })
    })
  })
}

/** Something happens before one of the writes, which are counted from 1. */
function beforeWrite(nth: number, database: Database, act: () => Promise<unknown>): Database {
  let written = 0
  return {
    ...database,
    async write(unit) {
      if (++written === nth) await act()
      return database.write(unit)
    },
  }
}

/** Its process is killed after so many writes. */
function diesAfter(writes: number, database: Database): Database['write'] {
  let left = writes
  return async (unit) => {
    if (left-- <= 0) throw new Error('killed')
    return database.write(unit)
  }
}
