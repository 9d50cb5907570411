import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { removeTree, removeUnused } from './remove-tree.ts'

describe('a folder that goes', () => {
  let root: string
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'steward-remove-'))
  })
  after(() => rm(root, { recursive: true, force: true }))

  it('may be deeper than a path can be long, and closed', async () => {
    const folder = join(root, 'deep')
    await mkdir(folder)
    const script = 'name=$(printf %0200d 0); for n in $(seq 30); do mkdir $name; cd $name; done'
    execFileSync('bash', ['-c', `${script}; touch file; chmod 0 .`], { cwd: folder })
    await removeTree(folder)
    await removeTree(folder)
    assert.deepEqual(await readdir(root), [])
  })

  async function used(at: number): Promise<[folder: string, away: string]> {
    const folder = join(root, 'used')
    await mkdir(folder)
    await writeFile(join(folder, 'file'), '')
    await utimes(folder, at / 1000, at / 1000)
    return [folder, join(root, 'away')]
  }

  it('stays when somebody has begun to use it', async () => {
    const [folder, away] = await used(2000)
    await removeUnused(folder, away, 1999)
    assert.deepEqual(await readdir(folder), ['file'])
    await removeUnused(folder, away, 2000)
    assert.deepEqual(await readdir(root), [])
    await removeUnused(folder, away, 2000)
  })
})
