import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { bytesBelow } from './disk.ts'

describe('the disk use of folders', () => {
  it('is found out however much cannot be looked at, and however long its names are', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-disk-'))
    try {
      await writeFile(join(folder, 'file'), Buffer.alloc(2 << 20, 1))
      // Missing folders stand for files that a session removes during the count. `du` reports each by its whole path.
      const gone = Array.from({ length: 300 }, (_, i) => join(folder, `${i}`, 'gone/'.repeat(780)))
      const bytes = await bytesBelow([...gone, folder])
      assert.ok(bytes >= 2 << 20, String(bytes))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
