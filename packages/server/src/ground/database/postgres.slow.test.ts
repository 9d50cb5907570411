import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import type { StorageError } from '../core/errors.ts'
import { newId } from '../core/text/ids.ts'
import type { Database, Queries } from './database.ts'
import { emptyPostgresUrl, newPostgresUrl } from './fixture.ts'
import { postgresDatabase } from './postgres.ts'
import { postgresProxy } from './proxy-fixture.ts'
import { selectRaw } from './select-raw.ts'

/** Repeats the check until it returns true. Otherwise the test ends at its time limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}

/** Starts another process that has the database open. */
async function otherProcess(url: string) {
  const code = `
    const { postgresDatabase } = await import(process.argv[1])
    const database = await postgresDatabase(process.argv[2])
    process.stdout.write(database.owners.self)
    setInterval(() => {}, 1000)`
  const module = import.meta.resolve('./postgres.ts')
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, module, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [self] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    self: self.toString(),
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function admin(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(sql)
  await client.end()
  return rows
}

const isDead = async (database: Database, owner: string) =>
  (await database.owners.dead([owner])).length > 0

describe('processes on one Postgres', () => {
  it('take each other for alive, and a process that never was for dead', async () => {
    const url = await emptyPostgresUrl()
    const opened = await Promise.all(Array.from({ length: 6 }, () => postgresDatabase(url)))
    const alive = opened.map((database) => database.owners.self)
    assert.equal(new Set(alive).size, 6)
    // Lock keys are 64-bit numbers of either sign: some of these are negative.
    const never = Array.from({ length: 20 }, (_, n) => `proc_never${n}`)
    for (const database of opened) {
      assert.deepEqual(await database.owners.dead([...alive, ...never]), never)
    }
    await Promise.all(opened.map((database) => database.close()))
  })

  it('know at once when one has closed', async () => {
    const url = await newPostgresUrl()
    const [one, two] = [await postgresDatabase(url), await postgresDatabase(url)]
    assert.ok(!(await isDead(one, two.owners.self)))
    await two.close()
    await until(() => isDead(one, two.owners.self))
    await one.close()
  })

  it('know within a second when one was killed', async () => {
    const url = await newPostgresUrl()
    const database = await postgresDatabase(url)
    const other = await otherProcess(url)
    assert.ok(!(await isDead(database, other.self)))
    await other.kill()
    const killed = performance.now()
    await until(() => isDead(database, other.self))
    assert.ok(performance.now() - killed < 1000)
    await database.close()
  })

  it('are not taken for those of another database on the same server', async () => {
    const [here, there] = [
      await postgresDatabase(await newPostgresUrl()),
      await postgresDatabase(await newPostgresUrl()),
    ]
    assert.ok(await isDead(here, there.owners.self))
    await Promise.all([here.close(), there.close()])
  })

  it('go on after their connections were cut: alive again, and able to say which process is dead', async () => {
    const url = await newPostgresUrl()
    const [one, two] = [await postgresDatabase(url), await postgresDatabase(url)]
    const before = await admin(url, lockHolders)
    assert.equal(before.length, 2)
    await admin(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await until(async () => {
      const dead = await one.owners.dead([two.owners.self, 'proc_never']).catch(() => [])
      return dead.length === 1 && dead[0] === 'proc_never'
    })
    await until(async () => !(await isDead(two, one.owners.self).catch(() => true)))
    // A connection that was cut may hold its lock for a moment, and the answers above may concern that lock.
    await until(async () => (await admin(url, lockHolders)).length === 2)
    await Promise.all([one.close(), two.close()])
    await until(async () => (await admin(url, lockHolders)).length === 0)
  })
})

/** Ends all connections of the database except the one that runs this statement. */
const cutAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

describe('a Postgres that goes away under load', () => {
  it('ends no process, and every write that was acknowledged is there', async () => {
    const url = await newPostgresUrl()
    const database = await postgresDatabase(url)
    const acknowledged: string[] = []
    const refusals: unknown[] = []
    let over = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !over; n++) {
        const name = `w${writer}n${n}`
        const put = database.write(async (tx) => {
          await tx.insertInto('settings').values({ name, value: '1' }).execute()
          await tx.selectFrom('settings').select('name').limit(1).execute()
        })
        await put.then(
          () => acknowledged.push(name),
          (error: unknown) => refusals.push(error),
        )
      }
    })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    for (let round = 0; round < 20; round++) {
      const before = acknowledged.length
      await client.query(cutAll)
      await until(async () => acknowledged.length > before + 50)
    }
    over = true
    await Promise.all(writers)
    await client.end()
    const rows = await database.read.selectFrom('settings').select('name').execute()
    const kept = new Set(rows.map(({ name }) => name))
    assert.deepEqual(
      acknowledged.filter((name) => !kept.has(name)),
      [],
    )
    assert.ok(refusals.length > 0)
    for (const refusal of refusals) assert.equal((refusal as StorageError).reason, 'away')
    await database.close()
  })

  it('ends no process when a connection in use is lost between two statements', async () => {
    const url = await newPostgresUrl()
    const database = await postgresDatabase(url)
    const unit = database.write(async (tx) => {
      await sql`select 1`.execute(tx)
      await admin(url, cutAll)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await sql`select 1`.execute(tx)
    })
    await assert.rejects(unit, { reason: 'away' })
    await database.write((tx) => sql`select 1`.execute(tx))
    await database.close()
  })
})

describe('a Postgres whose packets vanish', () => {
  const limits = { connectMs: 1_500, statementMs: 700, heartbeatMs: 700 }

  it('refuses within the limits, is used again when packets pass, and closes meanwhile', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    const database = await postgresDatabase(proxy.url, limits)
    const ask = () => database.write((tx) => sql`select 1`.execute(tx))
    // The reads outnumber the connections of the pool.
    await Promise.all(Array.from({ length: 20 }, ask))
    proxy.vanish()
    const began = performance.now()
    const refused = await Promise.allSettled(Array.from({ length: 40 }, ask))
    assert.ok(performance.now() - began < 10_000)
    for (const each of refused) {
      assert.ok(each.status === 'rejected')
      assert.equal((each.reason as StorageError).reason, 'away')
    }
    proxy.resume()
    await until(async () => (await Promise.allSettled([ask()]))[0].status === 'fulfilled')
    // Late answers to earlier reads do not appear as answers to these.
    const numbers = Array.from({ length: 100 }, (_, n) => n)
    const answers = await Promise.all(
      numbers.map((n) => selectRaw(database.read, sql<{ n: number }>`select ${n}::int as n`)),
    )
    assert.deepEqual(
      answers.map(([row]) => row?.n),
      numbers,
    )
    proxy.vanish()
    const closing = performance.now()
    await database.close()
    assert.ok(performance.now() - closing < 6_000)
  })

  it('is unsure of a commit that had no answer, and of nothing else', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    const database = await postgresDatabase(proxy.url, limits)
    const lost = async (ask: () => Promise<unknown>): Promise<boolean> => {
      const thrown: unknown = await ask().then(
        () => undefined,
        (error: unknown) => error,
      )
      proxy.resume()
      await until(async () => {
        const again = database.write((tx) => sql`select 1`.execute(tx))
        return (await Promise.allSettled([again]))[0].status === 'fulfilled'
      })
      assert.equal((thrown as StorageError).reason, 'away')
      return (thrown as StorageError).isUnsure
    }
    const put = (db: Queries) =>
      db
        .insertInto('settings')
        .values({ name: newId('event'), value: '' })
        .execute()
    const atCommit = () =>
      database.write(async (tx) => {
        await put(tx)
        proxy.vanish()
      })
    assert.equal(await lost(atCommit), true)
    const before = () =>
      database.write(async (tx) => {
        proxy.vanish()
        await put(tx)
      })
    assert.equal(await lost(before), false)
    const single = () => {
      proxy.vanish()
      return database.writeStatement(put)
    }
    assert.equal(await lost(single), true)
    const reading = () => {
      proxy.vanish()
      return database.read.selectFrom('settings').selectAll().execute()
    }
    assert.equal(await lost(reading), false)
    await database.close()
  })

  it('ends a statement that takes too long, and goes on with its connection', async () => {
    const database = await postgresDatabase(await newPostgresUrl(), limits)
    await assert.rejects(selectRaw(database.read, sql`select pg_sleep(20)`), { reason: 'away' })
    await selectRaw(database.read, sql`select 1`)
    await database.close()
  })
})

const lockHolders = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`
