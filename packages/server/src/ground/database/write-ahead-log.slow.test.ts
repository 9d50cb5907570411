import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { movedClock } from '@steward/base/time-fixture.ts'
import { memoryBus } from '../bus/memory.ts'
import { StorageError } from '../core/errors.ts'
import { createReadinessCheck } from '../health/ready.ts'
import type { Database } from './database.ts'
import { createSqliteFile } from './fixture.ts'
import { sqliteDatabase } from './sqlite.ts'
import { syncLayer } from './sync-layer-fixture.ts'
import { logCheckpoints, commitSyncs } from './write-ahead-log.ts'
import { testGround } from '../ground-fixture.ts'

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'steward-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Syncs that the test ends itself, in their order. */
function syncsByHand() {
  const begun: PromiseWithResolvers<void>[] = []
  const sync = () => {
    const one = Promise.withResolvers<void>()
    begun.push(one)
    return one.promise
  }
  return { begun, sync }
}

const put = (database: Database, name: string) =>
  database.write((tx) => tx.insertInto('settings').values({ name, value: '1' }).execute())

const names = async (database: Database) => {
  const rows = await database.read.selectFrom('settings').select('name').orderBy('name').execute()
  return rows.map((row) => row.name)
}

/** True when the promise has settled after some rounds of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = () => void (settled = true)
  promise.then(settle, settle)
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve))
  return settled
}

const refusal = (promise: Promise<unknown>): Promise<StorageError> =>
  promise.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => (assert.ok(error instanceof StorageError, String(error)), error),
  )

describe('the syncs of commits', () => {
  it('cover all commits before their beginning, and none after it', async () => {
    const { begun, sync } = syncsByHand()
    const syncs = commitSyncs(sync)
    assert.equal(syncs.pending(), undefined)
    syncs.wrote()
    const first = syncs.pending()
    syncs.wrote()
    syncs.wrote()
    const third = syncs.pending()
    assert.ok(first && third)
    assert.equal(begun.length, 1)
    begun[0]?.resolve()
    await first
    assert.ok(!(await isSettled(third)))
    assert.equal(begun.length, 2)
    begun[1]?.resolve()
    await third
    assert.equal(syncs.pending(), undefined)
    assert.equal(begun.length, 2)
  })

  it('prove nothing after one that failed', async () => {
    const { begun, sync } = syncsByHand()
    const syncs = commitSyncs(sync)
    syncs.wrote()
    const first = syncs.pending()
    syncs.wrote()
    const second = syncs.pending()
    assert.ok(first && second)
    begun[0]?.reject(new Error('EIO'))
    await Promise.all([first, second].map((each) => assert.rejects(each, /EIO/)))
    syncs.wrote()
    await assert.rejects(syncs.pending() ?? Promise.resolve(), /EIO/)
    assert.throws(() => syncs.check(), { reason: 'away' })
    assert.equal(begun.length, 1)
  })
})

describe('the thread of checkpoints', () => {
  it('ends when no checkpoint is due for long, and begins again with the next one', async () => {
    await using at = await folder()
    const threads: Worker[] = []
    const note = (thread: Worker) => void threads.push(thread)
    process.on('worker', note)
    const clock = movedClock()
    const log = logCheckpoints(
      join(at.path, 'steward.db'),
      () => ({ log: 5_000, checkpointed: 0 }),
      (error) => assert.fail(error),
      clock,
    )
    const checkpoint = async () => {
      const before = clock.sleeping()
      for (let sync = 0; sync < 16; sync++) log.look()
      while (clock.sleeping() === before) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    try {
      await checkpoint()
      await clock.pass(20_000)
      await checkpoint()
      await clock.pass(20_000)
      assert.equal(threads.length, 1)
      const [first] = threads
      assert.ok(first && first.threadId > 0)
      const ended = once(first, 'exit')
      await clock.pass(10_000)
      await ended
      await checkpoint()
      assert.equal(threads.length, 2)
    } finally {
      await log.close()
      process.off('worker', note)
    }
    assert.equal(threads.at(-1)?.threadId, -1)
  })

  it('is ended by the close, also where the one before it had failed', async () => {
    await using at = await folder()
    const path = join(at.path, 'made later')
    const threads: Worker[] = []
    const note = (thread: Worker) => {
      if (threads.push(thread) === 2) mkdirSync(path)
    }
    process.on('worker', note)
    try {
      const log = logCheckpoints(
        join(path, 'steward.db'),
        () => ({ log: 5_000, checkpointed: 0 }),
        (error) => assert.fail(error),
      )
      for (let sync = 0; sync < 16; sync++) log.look()
      await log.close()
      assert.deepEqual(
        threads.map(({ threadId }) => threadId),
        [-1, -1],
      )
    } finally {
      process.off('worker', note)
      await Promise.all(threads.map((thread) => thread.terminate()))
    }
  })
})

describe('an embedded database', () => {
  it('answers a unit or a read when its rows are on disk, and runs other units meanwhile', async () => {
    await using at = await folder()
    const { begun, sync } = syncsByHand()
    const database = await sqliteDatabase(await createSqliteFile(at.path), { sync })
    assert.deepEqual(await names(database), [], 'nothing is written, and nothing waited for')
    const first = put(database, 'a')
    assert.ok(!(await isSettled(first)))
    const reading = names(database)
    const second = put(database, 'b')
    const refused = assert.rejects(put(database, 'a'), /UNIQUE/)
    assert.ok(!(await isSettled(reading)))
    assert.equal(begun.length, 1)
    begun[0]?.resolve()
    await first
    assert.deepEqual(await reading, ['a'])
    assert.ok(!(await isSettled(second)), 'its commit is later than the beginning of the sync')
    assert.ok(!(await isSettled(refused)), 'what refuses it may be taken back, too')
    assert.ok(!(await isSettled(names(database))))
    begun[1]?.resolve()
    await Promise.all([second, refused])
    assert.deepEqual(await names(database), ['a', 'b'])
    await database.write((tx) => tx.selectFrom('settings').select('name').execute())
    await database.write((tx) => tx.deleteFrom('settings').where('name', '=', 'no such').execute())
    assert.equal(begun.length, 2, 'a unit that changes nothing needs no sync')
    await database.close()
  })

  it('refuses all that comes after a sync that failed, is not ready, and is opened again', async () => {
    await using at = await folder()
    const { begun, sync } = syncsByHand()
    const path = await createSqliteFile(at.path)
    const database = await sqliteDatabase(path, { sync })
    const bus = memoryBus()
    const ready = createReadinessCheck({
      ...testGround(database, { bus }),
      blobStore: { isThere: async () => true },
    })
    const lost = refusal(put(database, 'lost'))
    assert.ok(!(await isSettled(lost)))
    const seen = refusal(names(database))
    begun[0]?.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
    const { reason, isUnsure } = await lost
    assert.deepEqual([reason, isUnsure], ['away', true])
    assert.deepEqual([(await seen).reason, (await seen).isUnsure], ['away', false])
    const late = [put(database, 'late'), names(database)].map(refusal)
    for (const error of await Promise.all(late)) {
      assert.deepEqual([error.reason, error.isUnsure], ['away', false])
    }
    assert.deepEqual(await ready(), { database: 'away', notifications: 'ok', blobs: 'ok' })
    assert.equal(begun.length, 1)
    await database.close()
    const again = await sqliteDatabase(path)
    await put(again, 'later')
    assert.ok(!(await names(again)).includes('late'))
    await again.close()
  })
})

/**
 * Writers that number their units in the order of their run. Each prints the numbers that are stored, and the number
 * that a read returned.
 */
const writing = `
  const { sqliteDatabase } = await import(process.argv[1])
  const database = await sqliteDatabase(process.argv[2])
  console.log('open')
  let last = 0
  const write = async (writer) => {
    for (;;) {
      const n = await database.write(async (tx) => {
        const n = ++last
        await tx.insertInto('settings').values({ name: String(n), value: 'x'.repeat(n * 997 % 40000) }).execute()
        if (n % 7 === 0) await tx.deleteFrom('settings').where('name', '=', String(n - 5)).execute()
        return n
      })
      console.log('kept ' + n)
    }
  }
  const read = async () => {
    for (;;) {
      const rows = await database.read.selectFrom('settings').select('name').execute()
      console.log('seen ' + Math.max(0, ...rows.map(({ name }) => Number(name))))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const failed = (error) => console.log('refused ' + error.reason)
  await Promise.all([read(), ...Array.from({ length: 8 }, write)].map((each) => each.catch(failed)))
  await database.close()`

/**
 * Runs the writers in a child process over the sync layer. `onLine` gets each line; the child ends by itself or is
 * killed.
 */
async function writers(
  path: string,
  env: Record<string, string>,
  onLine: (line: string) => boolean,
) {
  const module = import.meta.resolve('./sqlite.ts')
  const child = spawn(process.execPath, ['--input-type=module', '-e', writing, module, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'close')
  for await (const line of createInterface(child.stdout)) if (onLine(line)) child.kill('SIGKILL')
  await ended
}

const sector = 512
/** Offset in the log's head of the count that says how often the log began anew. */
const sequenceAt = 12

function timesBegunAnew(log: string): number {
  const head = Buffer.alloc(sequenceAt + 4)
  const file = openSync(log, 'r')
  readSync(file, head, 0, head.length, 0)
  closeSync(file)
  return head.readUInt32BE(sequenceAt)
}

/** A file after a power cut: each sector has its content of the last sync or a later one. */
async function afterCut(synced: string, written: string, isKept: () => boolean): Promise<Buffer> {
  const [before, now] = [await readFile(synced), await readFile(written)]
  const whole = Buffer.alloc(Math.max(before.length, now.length))
  before.copy(whole)
  for (let at = 0; at < now.length; at += sector) if (isKept()) now.copy(whole, at, at, at + sector)
  return whole
}

/** Numbers from 0 to 1 that are the same in each run. */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('a power cut', () => {
  for (const [round, count] of [100, 400, 1_500].entries())
    it(`keeps all that was answered, in its order, and no half of a unit, after ${count} units`, async () => {
      await using at = await folder()
      const copies = join(at.path, 'synced')
      await mkdir(copies)
      const path = await createSqliteFile(at.path)
      if (existsSync(path)) await copyFile(path, join(copies, 'steward.db'))
      const env = await syncLayer(at.path, { copies, delayMs: round === 1 ? 1 : 0 })
      let [told, kept] = [0, 0]
      await writers(path, env, (line) => {
        const [what, n] = line.split(' ')
        if (what === 'kept') kept++
        if (what === 'kept' || what === 'seen') told = Math.max(told, Number(n))
        // A checkpoint runs when its thread gets time, so the cut waits for the checkpoints that the round needs.
        return kept > count && (timesBegunAnew(`${path}-wal`) >= round || kept > 20 * count)
      })
      const begun = timesBegunAnew(`${path}-wal`)
      assert.ok(begun >= round, `checkpoints began the log anew ${begun} times in ${kept} units`)
      const chance = chances(round + 1)
      for (const share of [0, 0.1, 0.5, 0.9, 0.99, 1]) {
        const cut = join(at.path, `cut-${share}.db`)
        for (const end of ['', '-wal']) {
          const name = `steward.db${end}`
          const isKept = () => chance() < share
          const file = await afterCut(join(copies, name), join(at.path, name), isKept)
          await writeFile(cut + end, file)
        }
        await checkKept(cut, told)
      }
    })
})

async function checkKept(path: string, told: number): Promise<void> {
  const database = await sqliteDatabase(path)
  const kept = (await names(database)).map(Number)
  await database.close()
  const last = Math.max(0, ...kept)
  assert.ok(last >= told, `${told} was told, and ${last} is the last that is kept`)
  const isDeleted = (n: number) => (n + 5) % 7 === 0 && n + 5 <= last
  const all = Array.from({ length: last }, (_, n) => n + 1).filter((n) => !isDeleted(n))
  assert.deepEqual(
    kept.toSorted((a, b) => a - b),
    all,
  )
  const db = new DatabaseSync(path)
  assert.deepEqual({ ...db.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
  db.close()
}

describe('a slow disk', () => {
  it('does not hold the event loop: no sync is on it, neither of commits nor of checkpoints', async () => {
    await using at = await folder()
    const [log, opening] = [join(at.path, 'syncs'), join(at.path, 'syncs-of-opening')]
    const env = await syncLayer(at.path, { log, delayMs: 4 })
    let count = 0
    await writers(await createSqliteFile(at.path), env, (line) => {
      if (line === 'open') void copyFile(log, opening)
      return ++count > 3_000
    })
    const [before, all] = [await readFile(opening, 'utf8'), await readFile(log, 'utf8')]
    const later = all.slice(before.length)
    assert.match(later, /^o{50,}$/)
  })
})

describe('a disk that fails', () => {
  it('ends writing and reading, also where the sync of a checkpoint fails', async () => {
    await using at = await folder()
    const fails = join(at.path, 'fails')
    const env = await syncLayer(at.path, { fails })
    let [count, refused] = [0, 0]
    await writers(await createSqliteFile(at.path), env, (line) => {
      if (++count === 500) void writeFile(fails, '')
      if (line.startsWith('refused')) {
        assert.equal(line, 'refused away')
        refused++
      }
      return false
    })
    assert.equal(refused, 9, 'the reader and all writers')
  })
})
