import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { FilePaths } from './layout.ts'
import { writeLayout } from './layout.ts'

async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'steward-layout-'))
  const opened: string[] = []
  const lay = (wanted: FilePaths[], open?: (id: string) => Readable | undefined) =>
    writeLayout(folder, wanted, async ({ id }) => {
      opened.push(id)
      return open ? open(id) : Readable.from([Buffer.from(`bytes of ${id}`)])
    })
  return {
    ...{ folder, opened, lay },
    text: (path: string) => readFile(join(folder, path), 'utf8'),
    all: async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

const paths = { one: 'files/one/a.txt', two: 'uploads/deep/down/b.txt' }
const one = { id: 'one', paths: [paths.one] }
const two = { id: 'two', paths: [paths.two] }

describe('files mounted in folders', () => {
  it('are there for everybody to read and nobody to write, and are fetched once', async () => {
    await using at = await setup()
    assert.deepEqual(await at.lay([one, two]), new Set(['one', 'two']))
    assert.equal(await at.text(paths.two), 'bytes of two')
    const mode = async (path: string) => (await stat(join(at.folder, path))).mode & 0o777
    assert.deepEqual(await Promise.all([paths.one, 'uploads/deep', 'files', 'given'].map(mode)), [
      ...[0o644, 0o755, 0o755, 0o700],
    ])
    assert.deepEqual(await at.lay([one, two]), new Set())
    assert.deepEqual(new Set(at.opened), new Set(['one', 'two']))
    assert.equal(at.opened.length, 2)
  })

  it('are removed, with the folders that become empty', async () => {
    await using at = await setup()
    await at.lay([one, two])
    await at.lay([one])
    assert.deepEqual(new Set(await at.all()), new Set(['given/one', paths.one]))
    assert.deepEqual(await readdir(join(at.folder, 'uploads')), [])
    await at.lay([])
    assert.deepEqual(await at.all(), [])
  })

  it('replace a file that was at the same path, or in its way', async () => {
    await using at = await setup()
    await at.lay([two])
    await at.lay([{ id: 'new', paths: [paths.two] }])
    assert.equal(await at.text(paths.two), 'bytes of new')
    await at.lay([{ id: 'file', paths: ['uploads/deep'] }])
    assert.equal(await at.text('uploads/deep'), 'bytes of file')
    await at.lay([two])
    assert.equal(await at.text(paths.two), 'bytes of two')
  })

  it('are at several paths at once, with one copy of their bytes', async () => {
    await using at = await setup()
    const both = { id: 'one', paths: [paths.one, paths.two] }
    await at.lay([both])
    const inode = async (path: string) => (await stat(join(at.folder, path))).ino
    assert.equal(await inode(paths.one), await inode(paths.two))
    await at.lay([one])
    assert.deepEqual(new Set(await at.all()), new Set(['given/one', paths.one]))
    assert.deepEqual(at.opened, ['one'])
  })

  it('are whole or not there, whatever dies when', async () => {
    await using at = await setup()
    const broken = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('half')
          throw new Error('cut')
        })(),
      )
    await assert.rejects(
      at.lay([one, two], (id) => (id === 'one' ? broken() : undefined)),
      /cut/,
    )
    assert.deepEqual(await at.all(), [])
    await writeFile(join(at.folder, 'given', '.left-by-a-process-that-died'), 'half')
    assert.deepEqual(await at.lay([one, two]), new Set(['one', 'two']))
    assert.equal((await at.all()).length, 4)
    await rm(join(at.folder, paths.one))
    await at.lay([one, two])
    assert.equal(await at.text(paths.one), 'bytes of one')
  })

  it('omit deleted files', async () => {
    await using at = await setup()
    const came = await at.lay([one, two], (id) => (id === 'two' ? Readable.from(['x']) : undefined))
    assert.deepEqual(came, new Set(['two']))
    assert.deepEqual(new Set(await at.all()), new Set(['given/two', paths.two]))
  })
})
