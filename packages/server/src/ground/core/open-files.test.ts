import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openFilesLimit } from './open-files.ts'

const told = (soft: string) => () =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                20000                files\n`

describe('how many files this process may open', () => {
  it('is what the kernel says', () => {
    assert.equal(openFilesLimit(told('4096')), 4096)
    assert.equal(openFilesLimit(told('unlimited')), Number.MAX_SAFE_INTEGER)
    assert.ok(openFilesLimit() >= 256)
  })

  it('is the least that systems give where nobody says it', () => {
    const absent = () => {
      throw new Error('ENOENT')
    }
    assert.equal(openFilesLimit(absent), 1024)
  })
})
