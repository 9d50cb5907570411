import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startWorkerMachine } from './worker-machine.ts'

const run = promisify(execFile)

it('gives each machine of a worker addresses that no other has', async () => {
  await using first = await startWorkerMachine()
  await using second = await startWorkerMachine()
  assert.notEqual(first.host, second.host)
})

it('removes the machine of a test process that was killed', async () => {
  const killed = `stw${spawnSync('true').pid}-0`
  await run('ip', ['netns', 'add', killed])
  await using machine = await startWorkerMachine()
  const { stdout } = await run('ip', ['netns', 'list'])
  assert.doesNotMatch(stdout, new RegExp(`^${killed}\\b`, 'm'))
  assert.match(stdout, new RegExp(`^${machine.by.at(-1)}\\b`, 'm'))
})
