import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { tryProvider } from './trial.ts'

describe('trials of a sandbox', () => {
  it('a trial removes the leftovers of a killed trial, and nothing of others', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'steward-trials-'))
    try {
      const [dead, alive] = ['steward-check-4194305-a', `steward-check-${process.ppid}-b`]
      for (const name of [dead, alive, 'steward-check-me'])
        mkdirSync(join(parent, name, 'workspace'), { recursive: true })
      const failing = () => Promise.reject(new Error('none starts here'))
      await assert.rejects(tryProvider(failing, parent), /none starts here/)
      assert.deepEqual(readdirSync(parent).toSorted(), [alive, 'steward-check-me'].toSorted())
    } finally {
      rmSync(parent, { recursive: true })
    }
  })
})
