import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, utimesSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeStartFolder, removeLeftStarts, removeStartFolder } from './start-folder.ts'

const minute = 60_000

// verifies: sandbox/another-process
describe('the folder of a start', () => {
  it('stays for ten minutes after its sandbox was found to be over, however long that ran', async () => {
    const own = mkdtempSync(join(tmpdir(), 'steward-starts-'))
    try {
      const [left, cleared] = [await makeStartFolder(own), await makeStartFolder(own)]
      const now = Date.now()
      for (const each of [left, cleared])
        utimesSync(each, (now - 60 * minute) / 1000, (now - 60 * minute) / 1000)
      await removeLeftStarts(own, now)
      await removeLeftStarts(own, now + 9 * minute)
      assert.deepEqual([existsSync(left), existsSync(cleared)], [true, true])
      await removeStartFolder(cleared)
      await removeLeftStarts(own, now + 11 * minute)
      assert.deepEqual([existsSync(left), existsSync(cleared)], [false, false])
    } finally {
      await rm(own, { recursive: true })
    }
  })
})
