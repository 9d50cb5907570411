import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { StorageError } from '../../ground/core/errors.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { insertHead, tenant } from '../../sessions/log/fixture.ts'
import { processWaits } from './process-waits.ts'

async function setup(change: (database: Database) => Database = (database) => database) {
  const opened = await databases.sqlite()
  const session = await insertHead(opened.database)
  const { bus } = opened
  let wake = () => {}
  const clock = {
    ...systemClock,
    now: () => 7,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        wake = resolve
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  const told = { count: 0, next: () => {} }
  bus.subscribe(`session:${session}`, () => {
    told.count++
    told.next()
  })
  const ground = testGround(change(opened.database), { clock })
  const waits = processWaits(ground)
  return {
    told,
    lines: ground.lines,
    during: <T>(waited: Promise<T>) => waits({ tenant, session, generation: 2 }, 'sandbox', waited),
    /** A quarter of a second passes. */
    pass: () => wake(),
    heard: () => new Promise<void>((resolve) => (told.next = resolve)),
    async rows() {
      const rows = opened.database.read.selectFrom('session_waits')
      const found = await rows.select(['type', 'generation', 'since_ms']).execute()
      return found.map((row) => ({ ...row }))
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

describe('a wait of a running session', () => {
  it('is written when it lasts, and removed at its end', async () => {
    await using here = await setup()
    const { promise, resolve } = Promise.withResolvers<string>()
    const waited = here.during(promise)
    const written = here.heard()
    here.pass()
    await written
    assert.deepEqual(await here.rows(), [{ type: 'sandbox', generation: 2, since_ms: 7 }])
    const ended = here.heard()
    resolve('started')
    assert.equal(await waited, 'started')
    await ended
    assert.deepEqual(await here.rows(), [])
  })

  it('is never written when it is short', async () => {
    await using here = await setup()
    assert.equal(await here.during(Promise.resolve(1)), 1)
    await new Promise(setImmediate)
    assert.equal(here.told.count, 0)
  })

  it('passes on the failure of what it waits for', async () => {
    await using here = await setup()
    await assert.rejects(here.during(Promise.reject(new Error('no room'))), /no room/)
  })

  it('fails nothing where it cannot be written, and the log says so', async () => {
    await using here = await setup((database) => ({
      ...database,
      write: () => Promise.reject(new StorageError('away', new Error('gone'))),
    }))
    const { promise, resolve } = Promise.withResolvers<string>()
    const waited = here.during(promise)
    here.pass()
    await new Promise(setImmediate)
    resolve('started')
    assert.equal(await waited, 'started')
    await new Promise(setImmediate)
    assert.match(here.lines.join(), /a wait of a session was not recorded/)
  })
})
