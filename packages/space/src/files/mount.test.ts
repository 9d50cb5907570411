import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { GivenFile } from './mount.ts'
import { mountFiles } from './mount.ts'

const upload = (id: string): GivenFile => ({
  ...{ id, filename: 'a', resolvedPath: `/mnt/session/uploads/${id}`, isTold: false },
})

describe('files that are given to a session', () => {
  // verifies: resources/file/live
  it('are reported once, and not when they were removed before the result of the call', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-given-'))
    t.after(() => rm(folder, { recursive: true }))
    let files: GivenFile[] = []
    let revision = 0
    const give = (...now: GivenFile[]) => {
      files = now
      revision++
    }
    const given = {
      revision: async () => revision,
      files: async () => files,
      open: async () => Readable.from(['bytes']),
    }
    const mounted = await mountFiles(given, {
      ...{ folder, workspace: folder, isHost: false },
    })
    // No file is linked here, so no call reaches the sandbox.
    const sandbox = {} as never
    const call = async (meanwhile: () => void = () => {}) => {
      await mounted.before?.(sandbox)
      meanwhile()
      return mounted.announced?.(sandbox)
    }
    give(upload('one'), upload('two'))
    assert.deepEqual(await call(() => give(upload('two'))), [
      'A file was given: /mnt/session/uploads/two',
    ])
    assert.deepEqual(await call(), [])
    give(upload('three'), upload('two'))
    // A call that uses no sandbox.
    assert.deepEqual(await mounted.announced?.(sandbox), [
      'A file was given: /mnt/session/uploads/three',
    ])
  })
})
