import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeLeftovers, temporaryFolder } from './temporary-folder.ts'

const program = `
  const { temporaryFolder } = await import(process.argv[1])
  console.log((await temporaryFolder('out', process.argv[2])).path)
  setInterval(() => {}, 1000)
`

async function parentFolder() {
  const path = await mkdtemp(join(tmpdir(), 'steward-temporary-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

describe('temporary folders of a worker', () => {
  it('are removed by the next start when their process was killed, and not before', async () => {
    await using parent = await parentFolder()
    const url = new URL('./temporary-folder.ts', import.meta.url).href
    const words = ['--input-type=module', '-e', program, '--', url, parent.path]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const path = line.trim()
    child.kill('SIGSTOP')
    assert.deepEqual(await removeLeftovers(Date.now(), parent.path), [], 'stopped, and alive')
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.ok(existsSync(path))
    assert.deepEqual(await removeLeftovers(Date.now(), parent.path), [path.split('/').at(-1)])
    assert.ok(!existsSync(path))
  })

  it('that are being made, and folders of others, stay', async () => {
    await using parent = await parentFolder()
    for (const name of ['steward-out-abcdef', 'steward-other-abcdef', 'steward-door-abcdefg'])
      await mkdir(join(parent.path, name))
    assert.deepEqual(await removeLeftovers(Date.now(), parent.path), [])
    const old = new Date(Date.now() - 61_000)
    await utimes(join(parent.path, 'steward-out-abcdef'), old, old)
    assert.deepEqual(await removeLeftovers(Date.now(), parent.path), ['steward-out-abcdef'])
    const own = await temporaryFolder('door', parent.path)
    assert.deepEqual(await removeLeftovers(Date.now() + 3_600_000, parent.path), [])
    await own.remove()
    assert.equal((await readdir(parent.path)).length, 2)
  })
})
