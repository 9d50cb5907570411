import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openLedger } from './ledger.ts'

async function ledgerPlace() {
  const folder = await mkdtemp(join(tmpdir(), 'steward-ledger-'))
  const open = (isNew = false) => openLedger(join(folder, 'ledger'), { isNew, scratch: folder })
  return { folder, open, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

const entries = (sha: string) => new Map([['/a', { sha, stamp: null }]])

describe('the record of a mounted store', () => {
  it('belongs to who opened it last, from then on, and keeps what it says', async () => {
    await using place = await ledgerPlace()
    const first = await place.open(true)
    await first.rewrite(entries('one'))
    await first.note([{ path: '/b', sha: 'two' }])
    assert.ok(await first.isOurs())
    const second = await place.open()
    assert.ok(!(await first.isOurs()))
    assert.ok(await second.isOurs())
    assert.ok(second.isOfThisBoot)
    assert.deepEqual(
      [...(second.entries ?? [])],
      [
        ['/a', { sha: 'one', stamp: null }],
        ['/b', { sha: 'two', stamp: null }],
      ],
    )
  })

  it('is replaced whole by two processes at once', async () => {
    await using place = await ledgerPlace()
    const both = [await place.open(true), await place.open(true)]
    for (let n = 0; n < 50; n++)
      await Promise.all(both.map((each) => each.rewrite(entries(`${n}`))))
    assert.deepEqual([...((await place.open()).entries ?? [])], [...entries('49')])
    assert.deepEqual(await readdir(place.folder), ['ledger'])
  })
})
