import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import type { Checkpoint, CheckpointPart } from '@steward/protocol/checkpoints.ts'
import { buffer } from 'node:stream/consumers'
import type { SessionCheckpoints } from './checkpoints.ts'
import { prepareFiles, storeCheckpoint } from './checkpoints.ts'

const run = promisify(execFile)

/** A checkpoint that an attacker stored, with any content. */
async function strangers(folder: string): Promise<SessionCheckpoints> {
  const { stdout } = await run('tar', ['-C', folder, '-cf', '-', 'workspace', 'outputs', 'user'], {
    encoding: 'buffer',
  })
  const bytes = zstdCompressSync(stdout)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const base = { key: 'a', size: bytes.length, sha256 }
  return {
    row: async () => ({ folder: 'another', parts: { base, delta: null }, taken_at: 'then' }),
    use: async () => true,
    open: async () =>
      (async function* () {
        yield bytes
      })(),
    put: () => Promise.reject(new Error('nothing is put')),
    commit: async () => false,
    abandon: async () => {},
  }
}

describe('a working folder that is restored', () => {
  for (const linked of ['workspace', 'outputs', 'user'])
    it(`is refused if its ${linked} would be a link to a folder of this machine`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-keep-'))
      const path = (name: string) => join(folder, name)
      try {
        for (const name of ['machine', 'stranger', 'own', 'all']) await mkdir(path(name))
        await writeFile(path('machine/file'), 'of the machine')
        for (const name of ['workspace', 'outputs', 'user'])
          await (name === linked
            ? symlink(path('machine'), path(`stranger/${name}`))
            : mkdir(path(`stranger/${name}`)))
        const ref = { session: 'sesn_1', own: path('own'), here: 'this one' }
        await assert.rejects(
          prepareFiles(await strangers(path('stranger')), { ...ref, largest: Infinity }),
          { message: new RegExp(`is corrupt \\(it holds no ${linked}\\)`) },
        )
        assert.deepEqual(readdirSync(path('own')), [])
        assert.ok(existsSync(path('machine/file')))
      } finally {
        await rm(folder, { recursive: true })
      }
    })
})

/** Checkpoints of one session, in memory. */
function inMemory() {
  const archives: Buffer[] = []
  let row: Checkpoint | undefined
  const store: SessionCheckpoints = {
    row: async () => row,
    async use(folder) {
      row = { parts: null, taken_at: null, ...row, folder }
      return true
    },
    open: async ({ key }) =>
      (async function* () {
        yield archives[Number(key)] ?? Buffer.of()
      })(),
    async put(body): Promise<CheckpointPart> {
      const bytes = await buffer(body)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { key: String(archives.push(bytes) - 1), size: bytes.length, sha256 }
    },
    async commit(parts, { folder }) {
      row = { folder, parts, taken_at: 'then' }
      return true
    },
    abandon: async () => {},
  }
  return { store, archives }
}

describe('a working folder that is empty', () => {
  it('is saved and restored like any other, from an archive that all empty folders share', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-keep-'))
    const foldersOf = (own: string, here: string) => ({
      ...{ session: 'sesn_1', own: join(folder, own), here },
      largest: Infinity,
    })
    try {
      const all = [inMemory(), inMemory()]
      for (const [n, { store }] of all.entries()) {
        const folder = foldersOf(`first-${n}`, 'this one')
        assert.deepEqual(await prepareFiles(store, folder), { kind: 'new' })
        assert.ok(await storeCheckpoint(store, folder))
        const elsewhere = foldersOf(`second-${n}`, 'another')
        assert.deepEqual(await prepareFiles(store, elsewhere), {
          kind: 'restored',
          takenAt: 'then',
        })
        for (const part of ['workspace', 'outputs', 'user'])
          assert.deepEqual(readdirSync(join(elsewhere.own, part)), [])
      }
      assert.equal(all[0]?.archives.length, 1)
      assert.deepEqual(all[0]?.archives, all[1]?.archives)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('has its first files in the next checkpoint', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-keep-'))
    const { store } = inMemory()
    const ref = { session: 'sesn_1', own: join(folder, 'one'), here: 'one', largest: Infinity }
    const elsewhere = { ...ref, own: join(folder, 'two'), here: 'two' }
    try {
      await prepareFiles(store, ref)
      await storeCheckpoint(store, ref)
      await writeFile(join(ref.own, 'workspace/file'), 'text')
      await storeCheckpoint(store, ref)
      await writeFile(join(ref.own, 'workspace/file'), 'more')
      await storeCheckpoint(store, ref)
      await prepareFiles(store, elsewhere)
      assert.equal(await readFile(join(elsewhere.own, 'workspace/file'), 'utf8'), 'more')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
