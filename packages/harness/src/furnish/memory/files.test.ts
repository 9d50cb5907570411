import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { filesOnHost } from './files.ts'

it('a name that is not UTF-8, and longer as it is read, stops no look at a folder on the host', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'steward-memory-files-'))
  try {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.alloc(200, 0xff)]), '')
    const files = filesOnHost(folder)
    const [found] = (await files.walk()).files
    assert.deepEqual(await files.read(found?.path ?? ''), { ok: false, isGone: true })
  } finally {
    await rm(folder, { recursive: true })
  }
})
