import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, afterEach, describe, it } from 'node:test'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { jsonLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import type { Door } from '../egress/door-fixture.ts'
import { doorTo, environment, tenant } from '../egress/door-fixture.ts'
import type { Claimed, Workspaces } from './workspace.ts'
import { workspaces } from './workspace.ts'

const idleMs = 60_000
const limits = { memory: 256 << 20, processes: 64, cpus: 1, scratch: 16 << 20 }
const run = async (sandbox: Sandbox, command: string) =>
  (await sandbox.shell({ command, timeoutMs: 10_000 })).output

describe('the sandbox of a session', () => {
  let folder: string
  let now = 0
  let door: Door
  let spaces: Workspaces
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-workspace-'))
    door = await doorTo({ port: 1 })
  })
  after(async () => {
    await door[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    const clock = { ...systemClock, now: () => now }
    const log = jsonLog(() => {})
    const { bind } = door.door
    const provider = bubblewrapSandboxes()
    spaces = workspaces({ provider, bind, folder, limits, isPassable: false, idleMs, clock, log })
  })
  afterEach(() => spaces.close())

  const newSession = async (): Promise<Claimed> => {
    const { id } = await door.session([])
    return { tenant, session: id, environment, generation: 0 }
  }

  it('is the same one for as long as it is used', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
    assert.equal(await turn.sandbox(), await turn.sandbox())
    turn.giveBack()
    const next = spaces.use(session)
    await run(await next.sandbox(), 'cd /tmp')
    assert.equal(await run(await next.sandbox(), 'pwd'), '/tmp\n')
    next.giveBack()
  })

  // verifies: sandbox/lazy
  it('is stopped when it was idle, and its workspace is there for the next', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
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
    const again = spaces.use(session)
    const second = await again.sandbox()
    assert.notEqual(second, first)
    assert.equal(await run(second, 'cat /workspace/note'), 'kept\n')
    again.giveBack()
  })

  it('begins only when its predecessor is gone', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
    const first = await turn.sandbox()
    turn.giveBack()
    const stopped = spaces.stop(session.session)
    const next = spaces.use(session)
    const second = await next.sandbox()
    await stopped
    assert.equal(await first.ended, 'closed')
    assert.equal(await run(second, 'echo alive'), 'alive\n')
    next.giveBack()
  })

  it('leaves nothing of a deleted session', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
    await run(await turn.sandbox(), 'echo secret > /workspace/note')
    turn.giveBack()
    await spaces.remove(session.session)
    assert.ok(!existsSync(join(folder, session.session)))
    const again = spaces.use(session)
    assert.match(await run(await again.sandbox(), 'ls -A /workspace'), /^$/)
    again.giveBack()
  })

  // verifies: egress/fence/revoked-first
  it('loses its way out before it is ended', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
    await turn.sandbox()
    const { egress } = turn
    turn.giveBack()
    const stopped = spaces.stop(session.session)
    await assert.rejects(egress.outboundFetch({ credentials: true })('https://api.example'), /./)
    assert.equal(egress.takeRefusals()[0]?.reason, 'fenced')
    await stopped
    await assert.rejects(turn.sandbox(), /stopped/)
  })

  it('keeps the connections of a session over turns, until its servers are others', async () => {
    const session = await newSession()
    let closed = 0
    const make = () => ({ ...noServers, close: async () => void closed++ })
    const first = spaces.use(session)
    const servers = first.servers('one', make)
    first.giveBack()
    const second = spaces.use(session)
    assert.equal(second.servers('one', make), servers)
    assert.notEqual(second.servers('two', make), servers)
    assert.equal(closed, 1)
    second.giveBack()
    await spaces.stop(session.session)
    assert.equal(closed, 2)
  })
})
