import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import pg from 'pg'
import type { Database } from './database.ts'
import { newPostgresUrl } from './fixture.ts'
import { postgresDatabase } from './postgres.ts'

/** Looks until it is so; a test that it never becomes true for runs into its time limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}

/** Another process with the database open. */
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
  it('take each other for alive, and whoever never was for dead', async () => {
    const url = await newPostgresUrl()
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

  it('go on after their connections were cut: alive again, and able to tell who is not', async () => {
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
    const after = await admin(url, lockHolders)
    assert.equal(after.length, 2)
    await Promise.all([one.close(), two.close()])
    await until(async () => (await admin(url, lockHolders)).length === 0)
  })
})

const lockHolders = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`
