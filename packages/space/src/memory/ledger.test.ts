import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openLedger } from './ledger.ts'

async function ledgerSetup() {
  const folder = await mkdtemp(join(tmpdir(), 'steward-ledger-'))
  const open = (isNew = false) => openLedger(join(folder, 'ledger'), { isNew, scratch: folder })
  return { folder, open, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

const entries = (sha: string) => new Map([['/a', { sha, stamp: null }]])

describe('the record of a mounted store', () => {
  it('belongs to who opened it last, from then on, and keeps what it says', async () => {
    await using setup = await ledgerSetup()
    const first = await setup.open(true)
    await first.rewrite(entries('one'))
    await first.note([{ path: '/b', sha: 'two' }])
    assert.ok(await first.isOurs())
    const second = await setup.open()
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
    await using setup = await ledgerSetup()
    const both = [await setup.open(true), await setup.open(true)]
    for (let n = 0; n < 50; n++)
      await Promise.all(both.map((each) => each.rewrite(entries(`${n}`))))
    assert.deepEqual([...((await setup.open()).entries ?? [])], [...entries('49')])
    assert.deepEqual(await readdir(setup.folder), ['ledger'])
  })
})
