import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import type { WorkspaceStore } from './keep.ts'
import { arrive } from './keep.ts'

const run = promisify(execFile)

/** A checkpoint that somebody else put aside, who may have put anything into it. */
async function strangers(folder: string): Promise<WorkspaceStore> {
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

describe('a workspace that is laid out again', () => {
  for (const linked of ['workspace', 'outputs', 'user'])
    it(`is none whose ${linked} would be a link to a folder of this machine`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-keep-'))
      const path = (name: string) => join(folder, name)
      try {
        for (const name of ['machine', 'stranger', 'own', 'all']) await mkdir(path(name))
        await writeFile(path('machine/file'), 'of the machine')
        for (const name of ['workspace', 'outputs', 'user'])
          await (name === linked
            ? symlink(path('machine'), path(`stranger/${name}`))
            : mkdir(path(`stranger/${name}`)))
        const place = { session: 'sesn_1', own: path('own'), here: 'this one' }
        await assert.rejects(
          arrive(await strangers(path('stranger')), { ...place, largest: Infinity }),
          { message: new RegExp(`is corrupt \\(it holds no ${linked}\\)`) },
        )
        assert.deepEqual(readdirSync(path('own')), [])
        assert.ok(existsSync(path('machine/file')))
      } finally {
        await rm(folder, { recursive: true })
      }
    })
})
