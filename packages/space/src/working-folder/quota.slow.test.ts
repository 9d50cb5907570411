import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import { spaceBelow } from '@steward/sandbox/disk.ts'
import type { Bench } from '@steward/sandbox/fixture.ts'
import { bench, run, say } from '@steward/sandbox/fixture.ts'
import type { Sandbox, SandboxSpec } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { diskQuota } from './quota.ts'

const none: DiskSpace = { bytes: 0, files: 0 }
const share: DiskSpace = { bytes: 20 << 20, files: 1_000 }
const write = (megabytes: number) => `head -c ${megabytes}M /dev/zero >file; sync`

describe('the disk of a session', () => {
  let setup: Bench
  let quota: ReturnType<typeof diskQuota>
  let told: string[]
  /** Free space as if nothing else were on the disk, so that other programs do not change the result. */
  async function free(folder: string): Promise<DiskSpace> {
    const taken = await spaceBelow([folder])
    return { bytes: 2 ** 40 - taken.bytes, files: 2 ** 30 - taken.files }
  }
  const begin = (floor: DiskSpace, freeAt = free) => {
    quota = diskQuota({
      ...{ folder: setup.folder, beside: [], session: share, floor, everyMs: 20, free: freeAt },
      report: (message) => told.push(message),
    })
  }
  beforeEach(() => {
    told = []
    setup = bench(bubblewrapSandboxes())
  })
  afterEach(async () => {
    await quota.close()
    await setup[Symbol.asyncDispose]()
  })

  async function open(spec: SandboxSpec): Promise<Sandbox> {
    const mounted = await quota.kind({ folder: dirname(spec.workspace), isKnown: true })
    const sandbox = await setup.open(spec)
    await mounted.started?.(sandbox)
    void sandbox.ended.then(() => mounted.ended?.())
    return sandbox
  }

  // verifies: sandbox/disk
  it('is measured, and a session that takes more than its share is ended, and reads why', async () => {
    begin(none)
    const spec = setup.spec()
    const [first, others] = [await open(spec), await open(setup.spec())]
    await assert.rejects(run(first, `sleep 0.3; ${write(45)}; sleep 20`), (error) => {
      assert.ok(error instanceof SandboxEnded)
      assert.match(error.message, /of this session take \d+ MB .*may take 20 MB .*delete some/)
      return true
    })
    assert.equal(await say(others, 'echo on'), 'on')
    assert.deepEqual(told, ['a sandbox was ended for the disk it takes'])
  })

  it('is measured from before its first write, however soon that comes', async () => {
    begin(none)
    const spec = setup.spec()
    const mounted = await quota.kind({ folder: dirname(spec.workspace), isKnown: false })
    const sandbox = await setup.open(spec)
    await run(sandbox, write(45))
    await mounted.started?.(sandbox)
    await sandbox.ended
    assert.deepEqual(told, ['a sandbox was ended for the disk it takes'])
  })

  it('is measured while others make as much room as a session takes', async () => {
    let others = 40 << 20
    begin(none, async (folder) => {
      const { bytes, files } = await free(folder)
      return { bytes: bytes - others, files }
    })
    const sandbox = await open(setup.spec())
    await run(sandbox, 'echo on')
    await delay(100)
    others = 0
    await delay(100)
    await assert.rejects(run(sandbox, `${write(35)}; sleep 20`), SandboxEnded)
  })

  it('is measured beside that of a session that cannot be', async () => {
    begin(none)
    const unreadable = await quota.kind({ folder: '\0', isKnown: true })
    await unreadable.started?.(await setup.open(setup.spec()))
    const sandbox = await open(setup.spec())
    await assert.rejects(run(sandbox, `sleep 0.3; ${write(45)}; sleep 20`), SandboxEnded)
    assert.ok(told.includes('the files of a session could not be measured'))
  })

  it('may be more than the share at a start, until it grows', async () => {
    begin(none)
    const spec = setup.spec()
    const before = await setup.provider.acquire(spec)
    await run(before, `${write(25)}; chmod 000 .`)
    await before.close()
    const sandbox = await open(spec)
    await run(sandbox, 'chmod 700 .; sleep 0.3; rm file')
    assert.equal(await say(sandbox, 'echo on'), 'on')
    await sandbox.close()
    const again = await setup.provider.acquire(spec)
    await run(again, write(40))
    await again.close()
    const refused = await open(spec)
    assert.match(await refused.ended, /take 40 MB/)
  })

  it('counts files too, also those that the session has closed to all', async () => {
    begin(none)
    const spec = setup.spec()
    const before = await setup.provider.acquire(spec)
    await run(before, 'mkdir closed; cd closed; touch $(seq 1600); chmod 000 .')
    await before.close()
    assert.match(await (await open(spec)).ended, /in 16\d\d files, and may take .* in 1000 files/)
  })

  // verifies: sandbox/disk/floor
  it('is not given to another session if too little is free, and the session that fills it is ended', async () => {
    const floor = { bytes: 0, files: 0 }
    begin(floor)
    const [quiet, loud] = [await open(setup.spec()), await open(setup.spec())]
    await delay(200)
    floor.bytes = 2 ** 60
    await assert.rejects(open(setup.spec()), (error) => {
      return (
        error instanceof SandboxEnded && /the disk has less than \d+ MB left/.test(error.message)
      )
    })
    await assert.rejects(
      run(loud, 'while :; do head -c 1M /dev/zero >>file; sync; sleep 0.05; done'),
      {
        message: /the disk of the sandboxes is nearly full/,
      },
    )
    assert.equal(await say(quiet, 'echo on'), 'on')
  })

  it('is taken by writing alone, and no file is larger than it may be', async () => {
    begin(none)
    const sandbox = await setup.open({ limits: { file: 1 << 20 } })
    assert.match(await say(sandbox, 'fallocate -l 1M file 2>&1'), /not supported/)
    const { exitCode } = await run(sandbox, 'head -c 2M /dev/zero >file')
    assert.notEqual(exitCode, 0)
    assert.equal(await say(sandbox, 'stat -c %s file'), String(1 << 20))
  })
})
