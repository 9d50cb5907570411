import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, afterEach, describe, it } from 'node:test'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { unusedKeeping } from '../../ground/blobs/fixture.ts'
import type { Checkpoints } from '../../resources/checkpoints/checkpoints.ts'
import { checkpoints } from '../../resources/checkpoints/checkpoints.ts'
import { jsonLog } from '@steward/base/log.ts'
import type { Share } from '../../ground/core/share.ts'
import { createShare } from '../../ground/core/share.ts'
import { systemClock } from '@steward/base/time.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import type { TestEgress } from '../egress/callers/egress-fixture.ts'
import { openTestEgress, environment, tenant } from '../egress/callers/egress-fixture.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { MountKind } from './mount-kind.ts'
import type { CheckpointSaving } from '../../ground/config/config.ts'
import type { RunLease } from './held-sandbox.ts'
import type { SandboxPool } from './sandbox-pool.ts'
import { sandboxPool } from './sandbox-pool.ts'

const idleMs = 60_000
const limits = { memory: 256 << 20, processes: 64, cpus: 1, scratch: 16 << 20, file: 1 << 30 }
const run = async (sandbox: Sandbox, command: string) =>
  (await sandbox.shell({ command, timeoutMs: 10_000 })).output

describe('the sandbox of a session', () => {
  let folder: string
  let now = 0
  let bench: TestEgress
  let spaces: SandboxPool
  let kind: MountKind
  let said: string[]
  let open: (saving: CheckpointSaving, instead?: Pick<Checkpoints, 'save'>) => SandboxPool
  let share: Share
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-workspace-'))
    bench = await openTestEgress({ port: 1 })
  })
  after(async () => {
    await bench[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    const clock = { ...systemClock, now: () => now }
    const log = jsonLog(() => {})
    const { bind } = bench.egress
    const provider = bubblewrapSandboxes()
    const one = oneDatabase(bench.database)
    const { read } = bench.database
    said = []
    kind = async () => ({})
    share = createShare({ total: 100, percent: 80 })
    open = (saving, instead) =>
      sandboxPool({
        ...{ provider, bind, folder, limits, isPassable: false, idleMs, clock, log },
        share,
        kinds: [(place) => kind(place)],
        session: (owner, session) => sessionStore(read).row(owner, session),
        checkpoints: {
          ...checkpoints({
            ...{ databases: one, clock, folder, largest: 1 << 30, history: 0 },
            keeping: unusedKeeping(one),
          }),
          ...instead,
        },
        saving,
        publish: async () => {},
        keep: async (_, events) => void said.push(...events.map(({ type }) => type)),
      })
    spaces = open('off')
  })
  afterEach(() => spaces.close())

  const newSession = async (): Promise<RunLease> => {
    const { id } = await bench.session([])
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
  it('has everything that was mounted, and calls the kinds at their times', async () => {
    const order: string[] = []
    kind = async ({ session, folder: own, isKnown, keep }) => {
      const source = join(own, 'things')
      await mkdir(source, { mode: 0o755 })
      await writeFile(join(source, 'thing'), 'laid out')
      await keep([{ id: 'sevt_1', type: 'session.warning', reason: 'r', message: 'm' }])
      order.push(`laid ${isKnown}`)
      const note = (what: string) => async () => void order.push(what)
      return {
        mounts: [{ source, path: '/home/user/things', access: 'read' }],
        env: { THINGS: session },
        started: note('started'),
        before: note('before'),
        async changed(sandbox) {
          return [`changed, ${await run(sandbox, 'cat /home/user/things/thing')}`]
        },
        rested: note('rested'),
        ended: note('ended'),
      }
    }
    const session = await newSession()
    const turn = spaces.use(session)
    assert.deepEqual(await turn.changed(), [])
    await turn.rested()
    const sandbox = await turn.sandbox()
    assert.equal(await run(sandbox, 'echo $THINGS'), `${session.session}\n`)
    assert.deepEqual(await turn.changed(), ['changed, laid out'])
    await turn.rested()
    turn.giveBack()
    await spaces.stop(session.session)
    await sandbox.ended
    assert.deepEqual(order, ['laid false', 'started', 'before', 'rested', 'ended'])
    assert.deepEqual(said, ['session.warning'])
  })

  it('has its files where no other account of the host reads them', async () => {
    const session = await newSession()
    const own = join(folder, session.session)
    await mkdir(own, { mode: 0o755 })
    await run(await spaces.use(session).sandbox(), 'true')
    assert.equal((await stat(own)).mode & 0o777, 0o700)
  })

  it('does not start when something for it fails, and is tried again', async () => {
    const session = await newSession()
    const turn = spaces.use(session)
    const failure = { type: 'unknown_error', message: 'no room' } as const
    kind = () => Promise.reject(new TurnFailed(failure))
    await assert.rejects(turn.sandbox(), { failure })
    kind = async () => ({ started: () => Promise.reject(new TurnFailed(failure)) })
    await assert.rejects(turn.sandbox(), { failure })
    kind = async () => ({})
    assert.equal(await run(await turn.sandbox(), 'echo now'), 'now\n')
    turn.giveBack()
  })

  it('starts for the turn that claimed the session while it was starting for the turn before', async () => {
    const session = await newSession()
    const [fenced, claimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    kind = async ({ egress }) => {
      await egress.placeholders().catch(() => fenced.resolve())
      await claimed.promise
      return {}
    }
    const turn = spaces.use(session)
    await bench.database.write((tx) =>
      tx
        .updateTable('session_heads')
        .set({ generation: 1 })
        .where('session_id', '=', session.session)
        .execute(),
    )
    const starting = turn.sandbox()
    await fenced.promise
    const next = spaces.use({ ...session, generation: 1 })
    claimed.resolve()
    assert.equal(await next.sandbox(), await starting)
    assert.deepEqual(next.takeNotices(), [])
    turn.giveBack()
    next.giveBack()
  })

  it('is stopped for another sandbox of its tenant when it rests, and keeps its place while it is used', async () => {
    // There is room for one sandbox of each tenant.
    share = createShare({ total: 2, percent: 50 })
    await spaces.close()
    spaces = open('off')
    const [one, other, third] = [await newSession(), await newSession(), await newSession()]
    const first = spaces.use(one)
    const sandbox = await first.sandbox()
    const second = spaces.use(other)
    const waiting = second.sandbox()
    const given = spaces.use(third)
    const refused = assert.rejects(given.sandbox(), /its turn is over/)
    given.giveBack()
    await refused
    assert.equal(await run(sandbox, 'echo used'), 'used\n')
    assert.ok(share.take('another tenant'))
    first.giveBack()
    const next = await waiting
    await sandbox.ended
    assert.equal(await run(next, 'echo mine'), 'mine\n')
    second.giveBack()
    const again = spaces.use(third)
    assert.equal(await run(await again.sandbox(), 'echo again'), 'again\n')
    await next.ended
    again.giveBack()
    await spaces.close()
    assert.equal(share.held(tenant), 0)
  })

  it(
    'is stopped for another sandbox even if its turn ended before it started',
    { timeout: 10_000 },
    async () => {
      share = createShare({ total: 2, percent: 50 })
      await spaces.close()
      spaces = open('off')
      const laid = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      kind = async () => {
        begun.resolve()
        await laid.promise
        return {}
      }
      const first = spaces.use(await newSession())
      const late = first.sandbox()
      await begun.promise
      const second = spaces.use(await newSession())
      const waiting = second.sandbox()
      first.giveBack()
      laid.resolve()
      await (
        await late
      ).ended
      assert.equal(await run(await waiting, 'echo mine'), 'mine\n')
      second.giveBack()
    },
  )

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
    // verifies: workspace/replaced-told
    const [notice] = again.takeNotices()
    assert.equal(notice?.reason, 'sandbox_replaced')
    assert.match(notice.message, /started anew/)
    assert.equal(notice.told, true)
    again.giveBack()
  })

  it('starts only when the previous one has ended', async () => {
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
    const deep = 'name=$(printf %0200d 0); for n in $(seq 30); do mkdir $name; cd $name; done'
    await run(await turn.sandbox(), `echo secret > /workspace/note; ${deep}`)
    turn.giveBack()
    await spaces.remove(session.session)
    assert.ok(!existsSync(join(folder, session.session)))
    const again = spaces.use(session)
    assert.match(await run(await again.sandbox(), 'ls -A /workspace'), /^$/)
    again.giveBack()
  })

  for (const next of ['removed', 'started again'])
    it(`is removed before its session is ${next}, even if it ended by itself`, async () => {
      const order: string[] = []
      const leave = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      kind = async ({ folder: own }) => {
        order.push('laid out')
        return {
          async ended() {
            left.resolve()
            await leave.promise
            order.push(existsSync(own) ? 'cleared' : 'too late')
          },
        }
      }
      const session = await newSession()
      const turn = spaces.use(session)
      await (await turn.sandbox()).close('it took too much')
      turn.giveBack()
      await left.promise
      const following = async () => {
        if (next === 'removed') return spaces.remove(session.session)
        const again = spaces.use(session)
        await again.sandbox()
        again.giveBack()
      }
      const done = following()
      setTimeout(leave.resolve, 100)
      await done
      assert.deepEqual(order.slice(0, 2), ['laid out', 'cleared'])
    })

  it('is stored in a checkpoint at the end of a later turn when that has failed', async () => {
    await spaces.close()
    spaces = open('idle')
    const session = await newSession()
    const turn = spaces.use(session)
    await turn.sandbox()
    await turn.changed()
    await turn.rested()
    await turn.rested()
    assert.deepEqual(said, ['session.warning', 'session.warning'])
    turn.giveBack()
  })

  it('is stored again only where a file has changed, or after an hour', async () => {
    await spaces.close()
    let stored = 0
    spaces = open('idle', { save: async () => ++stored > 0 })
    const session = await newSession()
    const turn = spaces.use(session)
    const sandbox = await turn.sandbox()
    const rest = async () => {
      await turn.changed()
      await turn.rested()
      return stored
    }
    /** Waits until the last change is old enough to differ in time from a later one. */
    const untilKept = async () => {
      for (let last = -1; last !== stored; await rest()) {
        last = stored
        await sleep(120)
      }
      return stored
    }
    const kept = await untilKept()
    assert.equal(await rest(), kept)
    await run(sandbox, 'true')
    assert.equal(await rest(), kept)
    await run(sandbox, 'echo x > file')
    assert.ok((await rest()) > kept)
    const again = await untilKept()
    now += 3_600_000
    assert.equal(await rest(), again + 1)
    turn.giveBack()
  })

  // verifies: egress/fence/revoked-first
  it('loses its egress before it is ended', async () => {
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
