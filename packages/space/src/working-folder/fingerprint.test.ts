import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { computeFingerprint } from './fingerprint.ts'

async function working() {
  const path = await mkdtemp(join(tmpdir(), 'steward-fingerprint-'))
  await mkdir(join(path, 'workspace/sub'), { recursive: true })
  await writeFile(join(path, 'workspace/sub/file'), 'one')
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

/** Once the last change is older than a tick of the kernel's clock. */
async function settled(path: string): Promise<string> {
  for (;;) {
    const print = await computeFingerprint(path, ['workspace'])
    if (print !== undefined) return print
    await setTimeout(10)
  }
}

const changes: Record<string, (path: (name: string) => string) => Promise<unknown>> = {
  async 'a file of the same size and time'(path) {
    await writeFile(path('sub/file'), 'two')
    await utimes(path('sub/file'), 1, 1)
  },
  'a new file': (path) => writeFile(path('new'), ''),
  'a missing file': (path) => rm(path('sub/file')),
  'a folder with another name': (path) => rename(path('sub'), path('other')),
  'a link instead of a folder': async (path) => {
    await rename(path('sub'), path('away'))
    await symlink('away', path('sub'))
  },
}

describe('the fingerprint of working folders', () => {
  it('stays while nothing changes', async () => {
    await using own = await working()
    assert.equal(await settled(own.path), await settled(own.path))
  })

  for (const [what, change] of Object.entries(changes))
    it(`changes with ${what}`, async () => {
      await using own = await working()
      await utimes(join(own.path, 'workspace/sub/file'), 1, 1)
      const before = await settled(own.path)
      await change((name) => join(own.path, 'workspace', name))
      assert.notEqual(await settled(own.path), before)
    })

  it('is not given right after a change, which another one might follow at the same time', async () => {
    await using own = await working()
    await settled(own.path)
    await writeFile(join(own.path, 'workspace/sub/file'), 'two')
    assert.equal(await computeFingerprint(own.path, ['workspace']), undefined)
  })

  it('is not given for more entries than an archive takes time for, nor for a folder that is not there', async () => {
    await using own = await working()
    for (let n = 0; n < 500; n++) await writeFile(join(own.path, `workspace/${n}`), '')
    await setTimeout(150)
    assert.equal(await computeFingerprint(own.path, ['workspace']), undefined)
    assert.equal(await computeFingerprint(own.path, ['elsewhere']), undefined)
  })
})
