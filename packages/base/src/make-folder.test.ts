import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeFolder } from './make-folder.ts'

describe('a folder that an operator names', () => {
  it('is made with those above it, also by several at once, and may be there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-made-'))
    try {
      const path = join(folder, 'a/b/c')
      await Promise.all([1, 2, 3].map(() => makeFolder(path, 0o700)))
      await makeFolder(path, 0o711)
      await symlink(path, join(folder, 'linked'))
      await makeFolder(join(folder, 'linked'), 0o700)
      assert.equal((await stat(path)).mode & 0o777, 0o700)
      await writeFile(join(folder, 'file'), '')
      await assert.rejects(makeFolder(join(folder, 'file'), 0o700), { code: 'EEXIST' })
      await assert.rejects(makeFolder(join(folder, 'file/x'), 0o700), { code: 'ENOTDIR' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is refused at once where the file system makes no folders', async () => {
    for (const path of ['/proc/x', '/proc/x/y/z', '/proc/self/fd/x'])
      await assert.rejects(makeFolder(path, 0o700), { code: 'ENOENT' })
  })

  it('is refused where a link leads to nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-made-'))
    try {
      await symlink(join(folder, 'gone'), join(folder, 'link'))
      await assert.rejects(makeFolder(join(folder, 'link'), 0o700), { code: 'ENOENT' })
      await assert.rejects(makeFolder(join(folder, 'link/x'), 0o700), { code: 'ENOENT' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
