import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Database, Queries } from './database.ts'
import { sqliteDatabase } from './sqlite.ts'

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'steward-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

const put = (database: Database, name: string) =>
  database.write((tx) => tx.insertInto('settings').values({ name, value: '1' }).execute())

const names = async (database: Database) => {
  const rows = await database.read.selectFrom('settings').select('name').orderBy('name').execute()
  return rows.map((row) => row.name)
}

function openFiles(): string[] {
  const folder = '/proc/self/fd'
  // One of the descriptors was the folder itself and is closed by now.
  return readdirSync(folder).flatMap((each) => {
    try {
      return readlinkSync(join(folder, each))
    } catch {
      return []
    }
  })
}

/** Starts another process that writes one row to the file and keeps it open until it is killed. */
async function otherServer(path: string) {
  const code = `
    const { sqliteDatabase } = await import(process.argv[1])
    const database = await sqliteDatabase(process.argv[2])
    await database.write((tx) => tx.insertInto('settings').values({ name: 'theirs', value: '1' }).execute())
    process.stdout.write('written')
    setInterval(() => {}, 1000)`
  const module = import.meta.resolve('./sqlite.ts')
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, module, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return {
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

describe('a SQLite database', () => {
  it('gives its files to nobody but its owner, also those that were there', async () => {
    await using at = await folder()
    const path = join(at.path, 'steward.db')
    await writeFile(path, '', { mode: 0o644 })
    const database = await sqliteDatabase(path)
    await put(database, 'a')
    for (const file of ['steward.db', 'steward.db-wal', 'steward.db-shm', 'steward.db.lock']) {
      assert.equal((await stat(join(at.path, file))).mode & 0o777, 0o600, file)
    }
    await database.close()
  })

  it('is refused to a second server on the same file, and free again once the first has closed', async () => {
    await using at = await folder()
    const path = join(at.path, 'steward.db')
    const first = await sqliteDatabase(path)
    await assert.rejects(sqliteDatabase(path), /another server is using .*steward\.db: stop it/)
    await put(first, 'still works')
    await first.close()
    const second = await sqliteDatabase(path)
    assert.deepEqual(await names(second), ['still works'])
    await second.close()
  })

  it('is refused while another process has it, and free the moment that is killed, with all it had written', async () => {
    await using at = await folder()
    const path = join(at.path, 'steward.db')
    const other = await otherServer(path)
    await assert.rejects(sqliteDatabase(path), /another server is using/)
    await other.kill()
    const database = await sqliteDatabase(path)
    assert.deepEqual(await names(database), ['theirs'])
    await database.close()
  })

  it('is open to a command beside a running server, and both see what the other wrote', async () => {
    await using at = await folder()
    const path = join(at.path, 'steward.db')
    const server = await sqliteDatabase(path)
    const command = await sqliteDatabase(path, { alone: false })
    await put(command, 'a')
    await put(server, 'b')
    assert.deepEqual(await names(server), ['a', 'b'])
    assert.deepEqual(await names(command), ['a', 'b'])
    await command.close()
    await server.close()
  })

  it('refuses writes through `read`', async () => {
    await using at = await folder()
    const database = await sqliteDatabase(join(at.path, 'steward.db'))
    // The type of a reading connection has no writes. The cast goes around that.
    const read = database.read as Queries
    const writing = read.insertInto('settings').values({ name: 'x', value: '1' })
    await assert.rejects(writing.execute(), /readonly/)
    await assert.rejects(
      read.transaction().execute(async () => {}),
      /transactions are opened by write/,
    )
    await database.close()
  })

  it('refuses what a unit says after it was given up, and lets nothing of it land elsewhere', async () => {
    await using at = await folder()
    const database = await sqliteDatabase(join(at.path, 'steward.db'))
    const late = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<unknown>()
    const foreign = database.write(async (tx) => {
      await late.promise
      await tx
        .insertInto('settings')
        .values({ name: 'late', value: '1' })
        .execute()
        .then(ended.resolve, ended.resolve)
    })
    await assert.rejects(foreign, /awaited something other/)
    const next = database.write(async (tx) => {
      late.resolve()
      await ended.promise
      await tx.insertInto('settings').values({ name: 'next', value: '1' }).execute()
    })
    await next
    assert.match(String(await ended.promise), /a statement outside of its unit/)
    assert.deepEqual(await names(database), ['next'])
    await database.close()
  })

  it('writes no file for what a unit could roll back', async () => {
    await using at = await folder()
    const database = await sqliteDatabase(join(at.path, 'steward.db'))
    const row = (name: string) => ({ name, value: 'v'.repeat(4_000) })
    const all = Array.from({ length: 100 }, (_, n) => row(`${n}`))
    await database.write((tx) => tx.insertInto('settings').values(all).execute())
    // The unit runs beside another unit, so that each can be rolled back alone.
    const [, files] = await Promise.all([
      put(database, 'beside'),
      database.write(async (tx) => {
        await tx
          .updateTable('settings')
          .set({ value: 'w'.repeat(4_000) })
          .execute()
        return openFiles()
      }),
    ])
    assert.ok(files.some((name) => name.startsWith(at.path)))
    assert.deepEqual(
      files.filter((name) => name.includes('etilqs_')),
      [],
    )
    await database.close()
  })

  it('finishes what was asked of it before it closes', async () => {
    await using at = await folder()
    const path = join(at.path, 'steward.db')
    const database = await sqliteDatabase(path)
    const all = Promise.all(Array.from({ length: 300 }, (_, n) => put(database, `n${n}`)))
    await database.close()
    await all
    await assert.rejects(put(database, 'too late'))
    const again = await sqliteDatabase(path)
    assert.equal((await names(again)).length, 300)
    await again.close()
  })
})
