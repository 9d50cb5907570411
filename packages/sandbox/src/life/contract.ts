/** Cases: how sandboxes begin and end, and that they leave nothing behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ContractCases, ProviderOrigin } from '../fixture.ts'
import { uniqueSleep, parentOf, processesWith, run, say, until } from '../fixture.ts'
import type { SandboxSpec } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'

/** A process that owns a sandbox, in which a background process with this mark sleeps. */
async function owner({ module, name }: ProviderOrigin, spec: SandboxSpec, sign: string) {
  const program = `
    const { ${name} } = await import(${JSON.stringify(module)})
    const sandbox = await ${name}().acquire(${JSON.stringify(spec)})
    sandbox.ended.then((why) => console.log('ended ' + why))
    await sandbox.shell({ command: ${JSON.stringify(daemon(sign))}, timeoutMs: 5000 })
    console.log('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  await once(child.stdout, 'data')
  return {
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const daemon = (sign: string) => `setsid sleep ${sign} >/dev/null 2>&1 </dev/null & disown`

export const lifeCases: ContractCases = {
  'starts the shell anew, without daemons and without its state': async ({ open }) => {
    const sandbox = await open()
    const sign = uniqueSleep()
    await run(sandbox, `${daemon(sign)}; kept=1; cd /tmp`)
    await until('the daemon runs', () => processesWith(sign).length > 0)
    const running = run(sandbox, `sleep ${sign}`)
    await until('the command runs', () => processesWith(sign).length > 1)
    await sandbox.restartShell()
    assert.deepEqual(processesWith(sign), [])
    assert.notEqual((await running).exitCode, 0)
    assert.equal(await say(sandbox, 'echo "[$kept]" ${PWD##*/}'), '[] workspace')
  },

  'ends its processes when it is closed': async ({ open }) => {
    const sandbox = await open()
    const sign = uniqueSleep()
    await run(sandbox, daemon(sign))
    const running = run(sandbox, `sleep ${sign}`)
    await until('both run', () => processesWith(sign).length > 1)
    await Promise.all([sandbox.close(), assert.rejects(running, SandboxEnded)])
    assert.deepEqual(processesWith(sign), [])
    assert.equal(await sandbox.ended, 'closed')
    await sandbox.close()
    await assert.rejects(run(sandbox, 'true'), SandboxEnded)
    await assert.rejects(sandbox.write('/workspace/a', Buffer.of(1)), SandboxEnded)
  },

  'ends its processes when its server is killed': async ({ spec }, origin) => {
    const sign = uniqueSleep()
    const dying = await owner(origin, spec(), sign)
    await dying[Symbol.asyncDispose]()
    await until('the daemon is gone', () => processesWith(sign).length === 0)
  },

  'ends for the calls under way when its processes are killed': async ({ provider, spec }) => {
    const mine = spec()
    const sandbox = await provider.acquire(mine)
    const sign = uniqueSleep()
    const running = assert.rejects(run(sandbox, `sleep ${sign}`), SandboxEnded)
    await until('the command runs', () => processesWith(sign).length > 0)
    for (const pid of processesWith(sign)) process.kill(parentOf(parentOf(pid)), 'SIGKILL')
    await running
    for (const pid of processesWith(sign)) process.kill(pid)
    assert.notEqual(await sandbox.ended, 'closed')
    await sandbox.close()
  },

  'is ended by any other process of the machine': async ({ provider, spec }, origin) => {
    const [mine, sign] = [spec(), uniqueSleep()]
    await using other = await owner(origin, mine, sign)
    const said = once(other.child.stdout, 'data')
    await provider.reap(mine)
    await until('the daemon is gone', () => processesWith(sign).length === 0)
    await provider.reap(mine)
    assert.match(String(await said), /^ended/)
    const next = await provider.acquire(mine)
    assert.equal(await say(next, 'echo hi'), 'hi')
    await next.close()
  },

  'keeps its files for the next sandbox': async ({ provider, spec }) => {
    const mine = spec()
    const first = await provider.acquire(mine)
    await run(first, 'kept=1; echo kept >file; mkdir folder')
    await first.close()
    const second = await provider.acquire(mine)
    assert.equal(
      await say(second, 'cat file; echo more >>file; ls; echo "[$kept]"'),
      'kept\nfile\nfolder\n[]',
    )
    await second.close()
  },

  'can be followed by a sandbox of the same name while it ends': async ({ provider, spec }) => {
    const mine = spec()
    let current = await provider.acquire(mine)
    for (let round = 0; round < 5; round++) {
      const closing = current.close()
      await provider.reap(mine)
      current = await provider.acquire(mine)
      await closing
      assert.equal(await say(current, `echo ${round}`), String(round))
    }
    await provider.reap(mine)
    assert.notEqual(await current.ended, 'closed')
    await current.close()
  },

  'starts and ends by the dozen': async ({ open }) => {
    const sandboxes = await Promise.all(Array.from({ length: 12 }, () => open()))
    const outputs = await Promise.all(sandboxes.map((sandbox, i) => say(sandbox, `echo ${i}`)))
    assert.deepEqual(
      outputs,
      sandboxes.map((_, i) => String(i)),
    )
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()))
  },
}
