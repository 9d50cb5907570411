import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { testConfinement } from './confine-command.ts'

async function fakeBubblewrap() {
  const folder = await mkdtemp(join(tmpdir(), 'steward-confine-'))
  const path = join(folder, 'bwrap')
  return {
    path,
    async write(script: string, mode = 0o755): Promise<void> {
      await writeFile(path, `#!/bin/sh\n${script}\n`)
      await chmod(path, mode)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

describe('the test whether programs can be confined', () => {
  it('is made again after a failure, and holds for good after a success', async () => {
    await using program = await fakeBubblewrap()
    const { canConfine } = testConfinement(program.path)
    assert.equal(await canConfine(), false, 'not installed')
    await program.write('exit 1')
    assert.equal(await canConfine(), false)
    await program.write('exit 0')
    assert.equal(await canConfine(), true)
    await program.write('exit 1')
    assert.equal(await canConfine(), true)
  })

  it('answers nothing when it could not be started, so that no program runs unconfined for that', async () => {
    await using program = await fakeBubblewrap()
    const { canConfine } = testConfinement(program.path)
    await program.write('exit 0', 0o644)
    await assert.rejects(canConfine(), { code: 'EACCES' })
    await program.write('exit 0')
    assert.equal(await canConfine(), true)
  })
})
