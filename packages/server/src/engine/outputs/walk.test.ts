import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { outputName } from '@steward/protocol/outputs.ts'
import { openFolder } from '@steward/space/working-folder/opened-folder.ts'
import { filesIn, openIn } from './walk.ts'

describe('a folder that somebody else writes to', () => {
  let folder: string
  const at = (...names: string[]) => join(folder, 'outputs', ...names)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-walk-'))
    await mkdir(at('in'), { recursive: true })
    await writeFile(join(folder, 'secret'), 'secret')
    await writeFile(at('in', 'a'), 'mine')
  })
  after(() => rm(folder, { recursive: true }))
  const opened = async () => {
    const root = await openFolder(join(folder, 'outputs'))
    assert.ok(root)
    return root
  }

  it('is looked at whole beside a name that is not UTF-8, and longer as it is read', async () => {
    const name = Buffer.concat([Buffer.from(at('')), Buffer.from('/'), Buffer.alloc(200, 0xff)])
    await writeFile(name, '')
    await using root = await opened()
    const { files, left } = await filesIn(root, 100)
    assert.equal(files.length, 1)
    assert.match(left.map(({ why }) => why).join(), /not UTF-8/)
    await rm(name)
  })

  // verifies: outputs/regular
  it('is not followed out of, also where a path becomes a link after it was looked at', async () => {
    await using root = await opened()
    const looked = await filesIn(root, 100)
    assert.deepEqual(
      looked.files.map(({ parts }) => parts),
      [['in', 'a']],
    )
    await rename(at('in'), at('before'))
    await symlink(folder, at('in'))
    await symlink(join(folder, 'secret'), join(folder, 'a'))
    assert.equal(await openIn(root, ['in', 'a']), undefined)
    assert.equal(await openIn(root, ['in', 'secret']), undefined)
    assert.equal(await openIn(root, ['in']), undefined)
    await rm(at('in'))
    await rename(at('before'), at('in'))
    await rm(at('in', 'a'))
    execFileSync('/usr/bin/mkfifo', [at('in', 'a')])
    assert.equal(await openIn(root, ['in', 'a']), undefined)
    await rm(at('in', 'a'))
    await writeFile(at('in', 'a'), 'mine')
    const found = await openIn(root, ['in', 'a'])
    assert.equal(await found?.file.readFile('utf8'), 'mine')
    await found?.file.close()
  })

  it('is none if a link replaces it', async () => {
    await symlink(at(), join(folder, 'link'))
    assert.equal(await openFolder(join(folder, 'link')), undefined)
    assert.equal(await openFolder(join(folder, 'none')), undefined)
  })

  // verifies: outputs/limits
  it('is looked through no further than allowed', async () => {
    for (let n = 0; n < 20; n++) await writeFile(at(`${n}`), '')
    await mkdir(at(...Array.from({ length: 20 }, () => 'deep')), { recursive: true })
    await using root = await opened()
    const { files, left } = await filesIn(root, 10)
    assert.ok(files.length <= 10)
    assert.match(left.map(({ why }) => why).join(), /only 10 entries/)
    const all = await filesIn(root, 1000)
    assert.equal(all.files.length, 21)
    assert.match(all.left.map(({ why }) => why).join(), /more than 15 folders/)
  })
})

// verifies: outputs/nested
describe('the name of an output', () => {
  it('is another one for each path', () => {
    const paths = ['a', 'a/b', 'a~1b', 'a~/b', 'a/~b', 'a~01b', '~', '~1', '/~0', '~0', 'a~2'].map(
      (path) => path.split('/'),
    )
    assert.deepEqual(outputName(['charts', 'a~.png']), 'charts~1a~.png')
    assert.equal(new Set(paths.map((parts) => outputName(parts))).size, paths.length)
  })
})
