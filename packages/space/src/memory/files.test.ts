import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { filesOnHost } from './files.ts'

describe('files of a memory store', () => {
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

  it('goes through a folder whose name is not UTF-8 like any other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-memory-files-'))
    try {
      const below = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])])
      await mkdir(below)
      await writeFile(Buffer.concat([below, Buffer.from('/a')]), '')
      const { files, complete } = await filesOnHost(folder).walk()
      assert.deepEqual([files.map(({ path }) => path), complete], [['/\ufffd/a'], true])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
