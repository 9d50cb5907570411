import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { start, storeIn } from './fixture.ts'

describe('a memory that was redacted or deleted', () => {
  it('is not in the bytes of the database, once that has been closed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    const database = await sqliteDatabase(join(folder, 'steward.db'))
    const store = await storeIn(database)
    const words = ['short-canary', 'long-canary-'.repeat(8000), 'deleted-canary-'.repeat(1000)]
    const [short = '', long = '', deleted = ''] = words
    const one = await store.create(start, { path: '/one', content: short })
    await store.update(start, one.id, { content: long })
    await store.update(start, one.id, { content: 'harmless' })
    const other = await store.create(start, { path: '/other', content: deleted })
    await store.remove(start, other.id, undefined)
    for (const { id, content } of await store.versions())
      if (content !== 'harmless') await store.redact(start, id)
    await database.close()
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name))
      for (const word of ['short-canary', 'long-canary', 'deleted-canary'])
        assert.ok(!bytes.includes(word), `${word} in ${name}`)
    }
    await rm(folder, { recursive: true })
  })
})
