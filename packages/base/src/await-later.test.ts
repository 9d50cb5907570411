import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { awaitLater } from './await-later.ts'

describe('a promise that is awaited later', () => {
  it('keeps its failure for the await, and ends no process before', async () => {
    const failed = awaitLater(Promise.reject(new Error('EMFILE')))
    await new Promise((resolve) => setTimeout(resolve, 10))
    await assert.rejects(failed, /EMFILE/)
  })
})
