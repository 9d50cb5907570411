import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageError } from '../core/errors.ts'
import { blobContract } from './contract.ts'
import { diskBlobs } from './disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'steward-blobs-'))
async function* bytes(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content)
}

const openFiles = () => readdirSync('/proc/self/fd').length

describe('blobs on disk', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  blobContract('a folder', () => diskBlobs(folder))

  it('have an empty range where they are empty', async () => {
    const blobs = await diskBlobs(folder)
    await blobs.put('empty', bytes(''))
    const found = await blobs.get('empty', { start: 0, end: 5 })
    assert.equal(found && (await text(found.body)), '')
  })

  it('keep no file open, however much of them was read', async () => {
    const blobs = await diskBlobs(folder)
    await blobs.put('fds/a', bytes('0123456789'))
    const before = openFiles()
    for (let i = 0; i < 20; i++) {
      const whole = await blobs.get('fds/a')
      assert.equal(whole && (await text(whole.body)), '0123456789')
      const nothing = await blobs.get('fds/a', { start: 10 })
      assert.equal(nothing && (await text(nothing.body)), '')
      const unread = await blobs.get('fds/a')
      unread?.body.destroy()
    }
    for (let i = 0; openFiles() > before && i < 100; i++) await sleep(10)
    assert.ok(openFiles() <= before)
  })

  it('are read to their end by who began before they were deleted', async () => {
    const blobs = await diskBlobs(folder)
    await blobs.put('late/a', bytes('still here'))
    const found = await blobs.get('late/a')
    await blobs.delete('late/a')
    assert.equal(found && (await text(found.body)), 'still here')
  })

  // verifies: files/upload/no-room
  it('are refused where less is free than must be, before anything of them is read', async () => {
    async function* untouched(): AsyncGenerator<Uint8Array> {
      yield* bytes('')
      assert.fail('it was read')
    }
    for (const floor of [
      { bytes: 2 ** 60, files: 0 },
      { bytes: 0, files: 2 ** 60 },
    ]) {
      const blobs = await diskBlobs(folder, floor)
      await assert.rejects(blobs.put('none/a', untouched()), (error) => {
        return error instanceof StorageError && error.reason === 'full'
      })
      assert.equal(await blobs.head('none/a'), undefined)
    }
  })

  it('are readable by nobody else on the machine', async () => {
    const blobs = await diskBlobs(folder)
    await blobs.put('modes/a', bytes('x'))
    assert.equal(statSync(join(folder, 'whole/modes/a')).mode & 0o777, 0o600)
    assert.equal(statSync(join(folder, 'whole')).mode & 0o777, 0o700)
  })

  it('are rid of the half made files of a dead process, and not of those of a living one', async () => {
    const [old, fresh] = [join(folder, 'coming/old'), join(folder, 'coming/fresh')]
    writeFileSync(old, 'x')
    writeFileSync(fresh, 'x')
    const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60
    utimesSync(old, twoDaysAgo, twoDaysAgo)
    await diskBlobs(folder)
    assert.deepEqual(readdirSync(join(folder, 'coming')), ['fresh'])
  })
})
