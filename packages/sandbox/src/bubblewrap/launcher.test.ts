/** Launchers that wait for sandboxes to come. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { startTestGate } from '../egress/fixture.ts'
import type { Bench } from '../fixture.ts'
import { bench, parentOf, processesWith, run, say, until } from '../fixture.ts'
import { memoryHog } from '../isolation/contract.ts'
import type { SandboxEgress } from '../sandbox.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'
import { findLimiter } from './limits.ts'

const mebibyte = 1 << 20

/** Launchers of a process that have not become a sandbox yet. */
const waitingOf = (server: number): number[] =>
  processesWith('--await').filter((pid) => parentOf(pid) === server)

async function setup() {
  const own = bench(bubblewrapSandboxes({ spares: 1 }))
  let gates = 0
  const closers: AsyncDisposable[] = []
  return {
    ...own,
    async gate(): Promise<SandboxEgress> {
      const folder = join(own.folder, `gate-${gates++}`)
      mkdirSync(folder)
      const made = await startTestGate(folder)
      closers.push(made)
      return made.egress
    },
    async [Symbol.asyncDispose]() {
      await own.provider.close?.()
      await own[Symbol.asyncDispose]()
      for (const each of closers) await each[Symbol.asyncDispose]()
    },
  }
}

/** A provider with one spare launcher, and the control groups that it makes. */
function watched() {
  const groups: { joins: string[]; isRemoved: boolean }[] = []
  const provider = bubblewrapSandboxes({
    spares: 1,
    findLimits() {
      const limiter = findLimiter()
      return {
        kind: limiter.kind,
        group(limits) {
          const made = limiter.group(limits)
          const seen = { joins: made.joins, isRemoved: false }
          groups.push(seen)
          return {
            joins: made.joins,
            remove() {
              seen.isRemoved = true
              made.remove()
            },
          }
        },
      }
    },
  })
  return { provider, groups }
}

async function spare(server = process.pid): Promise<number> {
  await until('a launcher waits', () => waitingOf(server).length === 1)
  return waitingOf(server)[0] ?? 0
}

/** The process that started the sandbox's daemon. */
async function starterOf({ folder }: Bench, sandbox: { id: string }): Promise<number> {
  const record = await readFile(join(folder, sandbox.id, 'sandbox.json'), 'utf8')
  return (JSON.parse(record) as { pid: number }).pid
}

describe('a spare launcher', () => {
  it('is made after the first sandbox with a gate, and becomes the next one', async () => {
    await using mine = await setup()
    await mine.open()
    assert.deepEqual(waitingOf(process.pid), [])
    const first = await mine.open({ egress: await mine.gate() })
    const waiting = await spare()
    const second = await mine.open({ egress: await mine.gate() })
    assert.notEqual(await starterOf(mine, first), waiting)
    assert.equal(await starterOf(mine, second), waiting)
    assert.notEqual(await spare(), waiting)
  })

  it('becomes a sandbox with its own files, user, network and gate, like any other', async () => {
    await using mine = await setup()
    const look =
      'id -un; pwd; touch file && ls; cat /proc/net/dev | grep -c :; ls /proc/self/fd | wc -l'
    const seen = []
    for (const _ of [1, 2]) {
      const sandbox = await mine.open({ egress: await mine.gate() })
      seen.push(await say(sandbox, look))
      seen.push(
        await say(
          sandbox,
          `exec 3<>/dev/tcp/127.0.0.1/3128
        printf 'CONNECT refused.test:443 HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3`,
        ),
      )
      await spare()
    }
    assert.match(seen[0] ?? '', /^user\n\/workspace\nfile\n1\n4$/)
    assert.equal(seen[1], 'HTTP/1.1 403 No')
    assert.deepEqual(seen.slice(2), seen.slice(0, 2))
  })

  it('has joined its control groups: the limits of the sandbox hold', async () => {
    await using mine = await setup()
    const limits = { memory: 128 * mebibyte }
    await mine.open({ egress: await mine.gate(), limits })
    const waiting = await spare()
    const sandbox = await mine.open({ egress: await mine.gate(), limits })
    assert.equal(await starterOf(mine, sandbox), waiting)
    assert.notEqual((await run(sandbox, memoryHog)).exitCode, 0)
    assert.equal(await say(sandbox, 'echo on'), 'on')
  })

  it('of other limits is ended, and starts no sandbox', async () => {
    await using mine = await setup()
    await mine.open({ egress: await mine.gate() })
    const waiting = await spare()
    const limits = { memory: 128 * mebibyte }
    const sandbox = await mine.open({ egress: await mine.gate(), limits })
    assert.notEqual(await starterOf(mine, sandbox), waiting)
    await until('it is ended', () => !processesWith('--await').includes(waiting))
    assert.notEqual((await run(sandbox, memoryHog)).exitCode, 0)
  })

  it('that was killed is not used', async () => {
    const { provider, groups } = watched()
    await using own = bench(provider)
    await using opened = await startTestGate(own.folder)
    await own.open({ egress: opened.egress })
    const waiting = await spare()
    const ofSpare = groups.at(-1)
    process.kill(waiting, 'SIGKILL')
    await until('its provider has noticed', () => ofSpare?.isRemoved === true)
    const sandbox = await own.open({ egress: opened.egress })
    assert.equal(await say(sandbox, 'echo hi'), 'hi')
    await provider.close?.()
  })

  it('that cannot be made disturbs nothing', async () => {
    let made = 0
    const limiter = findLimiter()
    const { kind } = limiter
    const provider = bubblewrapSandboxes({
      spares: 1,
      findLimits: () => ({
        kind,
        group(limits) {
          if (made++ === 1) throw new Error('no more groups')
          return limiter.group(limits)
        },
      }),
    })
    await using own = bench(provider)
    await using opened = await startTestGate(own.folder)
    for (const word of ['one', 'two']) {
      const sandbox = await own.open({ egress: opened.egress })
      assert.equal(await say(sandbox, `echo ${word}`), word)
    }
    assert.ok(made > 2)
    await provider.close?.()
  })

  it('starts one sandbox alone when several start at once', async () => {
    await using mine = await setup()
    await mine.open({ egress: await mine.gate() })
    await spare()
    const gates = await Promise.all([1, 2, 3, 4].map(() => mine.gate()))
    const all = await Promise.all(gates.map((egress) => mine.open({ egress })))
    const starters = await Promise.all(all.map((each) => starterOf(mine, each)))
    assert.equal(new Set(starters).size, all.length)
    const said = await Promise.all(all.map((each, n) => say(each, `echo ${n}`)))
    assert.deepEqual(said, ['0', '1', '2', '3'])
  })

  it('and its control groups are removed when the provider is closed, and none follows', async () => {
    const { provider, groups } = watched()
    await using own = bench(provider)
    await using opened = await startTestGate(own.folder)
    const sandbox = await own.open({ egress: opened.egress })
    await spare()
    await provider.close?.()
    assert.deepEqual(waitingOf(process.pid), [])
    assert.equal(await say(sandbox, 'echo goes on'), 'goes on')
    await sandbox.close()
    const files = groups.flatMap(({ joins }) => joins)
    await until('they are gone', () => !files.some((file) => existsSync(dirname(file))))
  })

  for (const end of ['by itself', 'by SIGKILL'] as const)
    it(`keeps no server alive, and ends with a server that ends ${end}`, async () => {
      await using own = bench(bubblewrapSandboxes())
      await using opened = await startTestGate(own.folder)
      const spec = own.spec({ egress: opened.egress })
      const module = import.meta.resolve('./bubblewrap.ts')
      const program = `
        const { bubblewrapSandboxes } = await import(${JSON.stringify(module)})
        const provider = bubblewrapSandboxes({ spares: 1 })
        const sandbox = await provider.acquire(${JSON.stringify(spec)})
        process.once('SIGUSR2', () => { process.stdin.destroy(); void sandbox.close() })
        process.stdin.resume()
        console.log('ready')`
      const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const gone = once(server, 'exit')
      await once(server.stdout, 'data')
      const waiting = await spare(server.pid)
      server.kill(end === 'by SIGKILL' ? 'SIGKILL' : 'SIGUSR2')
      await gone
      await until('it is gone', () => !processesWith('--await').includes(waiting))
    })
})
