import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, afterEach, describe, it } from 'node:test'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { jsonLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import type { Workspaces } from './workspace.ts'
import { workspaces } from './workspace.ts'

const idleMs = 60_000
const limits = { memory: 256 << 20, processes: 64, cpus: 1, scratch: 16 << 20 }
const run = async (sandbox: Sandbox, command: string) =>
  (await sandbox.shell({ command, timeoutMs: 10_000 })).output

describe('the sandbox of a session', () => {
  let folder: string
  let now = 0
  let spaces: Workspaces
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-workspace-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
  beforeEach(() => {
    const clock = { ...systemClock, now: () => now }
    const log = jsonLog(() => {})
    spaces = workspaces({ provider: bubblewrapSandboxes(), folder, limits, idleMs, clock, log })
  })
  afterEach(() => spaces.close())

  it('is the same one for as long as it is used', async () => {
    const turn = spaces.use('sesn_same', {})
    assert.equal(await turn.sandbox(), await turn.sandbox())
    turn.giveBack()
    const next = spaces.use('sesn_same', {})
    await run(await next.sandbox(), 'cd /tmp')
    assert.equal(await run(await next.sandbox(), 'pwd'), '/tmp\n')
    next.giveBack()
  })

  // verifies: sandbox/lazy
  it('is stopped when it was idle, and its workspace is there for the next', async () => {
    const turn = spaces.use('sesn_idle', {})
    const first = await turn.sandbox()
    await run(first, 'echo kept > /workspace/note')
    now += idleMs * 2
    await spaces.stopIdle()
    assert.equal(await run(first, 'echo used'), 'used\n', 'a turn that uses it keeps it')
    turn.giveBack()
    await spaces.stopIdle()
    assert.equal(await run(first, 'echo fresh'), 'fresh\n', 'it was used a moment ago')
    now += idleMs
    await spaces.stopIdle()
    assert.equal(await first.ended, 'closed')
    const again = spaces.use('sesn_idle', {})
    const second = await again.sandbox()
    assert.notEqual(second, first)
    assert.equal(await run(second, 'cat /workspace/note'), 'kept\n')
    again.giveBack()
  })

  it('begins only when its predecessor is gone', async () => {
    const turn = spaces.use('sesn_next', {})
    const first = await turn.sandbox()
    turn.giveBack()
    const stopped = spaces.stop('sesn_next')
    const next = spaces.use('sesn_next', {})
    const second = await next.sandbox()
    await stopped
    assert.equal(await first.ended, 'closed')
    assert.equal(await run(second, 'echo alive'), 'alive\n')
    next.giveBack()
  })

  it('leaves nothing of a deleted session', async () => {
    const turn = spaces.use('sesn_gone', {})
    await run(await turn.sandbox(), 'echo secret > /workspace/note')
    turn.giveBack()
    await spaces.remove('sesn_gone')
    const again = spaces.use('sesn_gone', {})
    assert.match(await run(await again.sandbox(), 'ls -A /workspace'), /^$/)
    again.giveBack()
  })
})
