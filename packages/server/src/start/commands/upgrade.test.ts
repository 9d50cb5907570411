import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { readConfig } from '../../ground/config/config.ts'
import type { Config } from '../../ground/config/config.ts'
import type { Database } from '../../ground/database/database.ts'
import { createSqliteFile, emptyPostgresUrl } from '../../ground/database/fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { checkUpgrade } from './upgrade.ts'

function configOf(variables: Record<string, string>): Config {
  const read = readConfig({ PLATFORM_ROOT_SECRET: 'a root secret for tests', ...variables })
  if (!read.ok) throw new Error(read.problems.join())
  return read.config
}

/** As a version without the last migration has it. */
async function makeEarlier(database: Database): Promise<void> {
  await database.write(async (tx) => {
    await sql`drop index sessions_forked`.execute(tx)
    await sql`delete from kysely_migration where name = '0006-forks'`.execute(tx)
  })
  await database.close()
}

async function told(config: Config, copy?: string): Promise<{ isServed: boolean; lines: string }> {
  const lines: string[] = []
  const isServed = await checkUpgrade(config, copy, (line) => lines.push(line))
  return { isServed, lines: lines.join('\n') }
}

describe('the check of an upgrade', () => {
  it('tries the migrations on a copy of the file, and changes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    try {
      const path = await createSqliteFile(folder)
      const config = configOf({ DATA_DIR: folder })
      assert.match((await told(config)).lines, /steward\.db: nothing$/)
      await makeEarlier(await sqliteDatabase(path))
      const before = await readdir(folder)
      for (const _time of ['first', 'second'])
        assert.match(
          (await told(config)).lines,
          /steward\.db: 0006-forks; stop the servers of the version before first\n.*steward\.db: took \d+\.\d s on a copy of \d+\.\d MiB$/,
        )
      assert.deepEqual(await readdir(folder), before)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('says that a start refuses what a newer version has changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    try {
      const database = await sqliteDatabase(await createSqliteFile(folder))
      await database.write((tx) =>
        sql`insert into kysely_migration values ('9999-later', '2026-01-01T00:00:00Z')`.execute(tx),
      )
      await database.close()
      const { isServed, lines } = await told(configOf({ DATA_DIR: folder }))
      assert.equal(isServed, false)
      assert.match(lines, /refused, a newer version has changed it \(9999-later\)/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('tries the migrations on a copy in Postgres that the operator names, and on no other', async () => {
    const [url, copy] = [await emptyPostgresUrl(), await emptyPostgresUrl()]
    for (const each of [url, copy]) await makeEarlier(await postgresDatabase(each))
    const config = configOf({ DATABASE_URL: url })
    assert.match(
      (await told(config)).lines,
      /^database: 0006-forks; stop .* first\nto see how long .*--on-copy URL$/,
    )
    assert.match((await told(config, copy)).lines, /took \d+\.\d s on the copy$/)
    assert.match((await told(config)).lines, /^database: 0006-forks/, 'the database is as it was')
    for (const same of [url, `${url}${url.includes('?') ? '&' : '?'}application_name=other`])
      await assert.rejects(told(config, same), /names the database itself/)
    assert.match((await told(config)).lines, /^database: 0006-forks/)
  })
})
