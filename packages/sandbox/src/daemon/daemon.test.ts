import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { rgPath } from '@vscode/ripgrep'
import { until } from '../fixture.ts'
import { remoteSandbox } from '../daemon-sandbox.ts'
import type { DaemonArch, DaemonHashes } from './build.ts'
import { daemonArchitectures, binaryPath, daemonFolder, hashFile, hashSource } from './build.ts'

const emulators: Record<DaemonArch, string> = {
  x64: 'qemu-x86_64-static',
  arm64: 'qemu-aarch64-static',
}

/** The command that runs the binary on this machine. Fails with the package to install when there is none. */
function commandOf(arch: DaemonArch): [string, ...string[]] {
  if (process.arch === arch) return [binaryPath(arch)]
  const emulator = emulators[arch]
  const { status } = spawnSync(emulator, ['--version'])
  assert.equal(status, 0, `no ${emulator} on this machine: apt-get install qemu-user-static`)
  return [emulator, binaryPath(arch)]
}

/** The program that starts the daemon. With a gate's socket, the launcher starts it in its own network. */
function programOf(arch: DaemonArch, gate: string | undefined): [string, ...string[]] {
  const command = commandOf(arch)
  if (gate === undefined) return command
  return [
    ...command,
    'launch',
    '--network',
    'bridge',
    '--',
    '/usr/bin/env',
    ...command,
    '--gate',
    gate,
  ]
}

async function start(arch: DaemonArch, gate?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'steward-sandboxd-'))
  const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')]
  for (const each of [workspace, state]) mkdirSync(each)
  const [program, ...args] = programOf(arch, gate)
  const child = spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'] })
  const gone = once(child, 'close')
  const sandbox = await remoteSandbox({
    id: arch,
    stream: { input: child.stdin, output: child.stdout },
    paths: { bash: '/bin/bash', ripgrep: rgPath, state, spill: state, workspace },
    env: { PATH: '/usr/bin:/bin' },
    spillMax: 1 << 20,
    async stop() {
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  })
  return { sandbox, workspace, child }
}

describe('the committed sandbox daemon', () => {
  const recorded = JSON.parse(
    readFileSync(join(daemonFolder, 'hashes.json'), 'utf8'),
  ) as DaemonHashes

  it('was built from the committed source', () => {
    assert.equal(hashSource(), recorded.source, 'run node packages/sandbox/src/daemon/build.ts')
    for (const arch of daemonArchitectures) {
      assert.equal(hashFile(binaryPath(arch)), recorded.binaries[arch].sha256, arch)
    }
  })

  for (const arch of daemonArchitectures) {
    it(`runs commands and keeps files on ${arch}`, async () => {
      const { sandbox, workspace, child } = await start(arch)
      const bytes = Buffer.from('one\ntwo\n')
      assert.deepEqual(await sandbox.write(`${workspace}/folder/a`, bytes), { ok: true })
      const echo = await sandbox.shell({ command: 'cd folder; cat a; exit 3', timeoutMs: 20_000 })
      assert.deepEqual(echo, { output: 'one\ntwo\n', bytes: 8, ended: 'exit', exitCode: 3 })
      const late = await sandbox.shell({ command: 'pwd; sleep 60', timeoutMs: 500 })
      assert.deepEqual([late.output, late.ended], [`${workspace}/folder\n`, 'timeout'])
      const file = await sandbox.read(`${workspace}/folder/a`, { offset: 4, maxBytes: 100 })
      assert.ok(file.ok && file.size === 8 && Buffer.from(file.bytes).toString() === 'two\n')
      const walk = await sandbox.walk(workspace, 100)
      assert.ok(walk.ok && walk.complete)
      assert.deepEqual(
        walk.files.map(({ path, size }) => [path, size]),
        [[`${workspace}/folder/a`, 8]],
      )
      await sandbox.restartShell()
      await sandbox.close()
      assert.notEqual(child.exitCode, null)
    })
  }

  for (const arch of daemonArchitectures) {
    it(`bridges to a gate and gives names addresses on ${arch}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'steward-gate-'))
      const socket = join(folder, 'gate.sock')
      const heads: string[] = []
      const gate = createServer((client) => {
        client.once('data', (head: Buffer) => {
          heads.push(head.toString().split('\r\n', 1)[0] ?? '')
          client.end('HTTP/1.1 200 Yes\r\n\r\nanswer')
        })
      }).listen(socket)
      await once(gate, 'listening')
      const { sandbox } = await start(arch, socket)
      const query = String.raw`\0\7\1\0\0\1\0\0\0\0\0\0\3one\4test\0\0\1\0\1`
      const command = `exec 3<>/dev/udp/127.0.0.1/53; printf '${query}' >&3
        address=$(dd bs=512 count=1 <&3 2>/dev/null | tail -c 4 | od -An -tu1 | xargs | tr ' ' .)
        echo $address; exec 3<>/dev/tcp/$address/443; cat <&3; echo
        exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET / HTTP/1.1\r\n\r\n' >&3; cat <&3`
      const { output } = await sandbox.shell({ command, timeoutMs: 20_000 })
      assert.equal(output, '127.64.0.1\nanswer\nHTTP/1.1 200 Yes\r\n\r\nanswer')
      assert.deepEqual(heads, ['CONNECT one.test:443 HTTP/1.1', 'GET / HTTP/1.1'])
      await sandbox.close()
      gate.close()
      rmSync(folder, { recursive: true, force: true })
    })
  }

  it('holds no more than it may while the server does not read, and then goes on', async () => {
    const { sandbox, workspace, child } = await start(process.arch === 'arm64' ? 'arm64' : 'x64')
    const bytes = randomBytes(8 << 20)
    await sandbox.write(`${workspace}/a`, bytes)
    const command = 'touch begun; until [ -e go ]; do :; done; head -c 32M /dev/zero; touch done'
    const loud = sandbox.shell({ command, timeoutMs: 20_000 })
    await until('the command runs', () => existsSync(`${workspace}/begun`))
    child.stdout.pause()
    const range = { offset: 0, maxBytes: bytes.length }
    const reads = Array.from({ length: 16 }, () => sandbox.read(`${workspace}/a`, range))
    const walks = Array.from({ length: 16 }, () => sandbox.walk(workspace, 10))
    writeFileSync(`${workspace}/go`, '')
    await until('the command has run', () => existsSync(`${workspace}/done`))
    const held = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
    assert.ok(Number(held?.[1]) < 8 << 10, `${held?.[1]} KiB`)
    child.stdout.resume()
    for (const read of await Promise.all(reads)) assert.ok(read.ok && bytes.equals(read.bytes))
    for (const walk of await Promise.all(walks)) assert.ok(walk.ok && walk.complete)
    assert.equal((await loud).bytes, 32 << 20)
    await sandbox.close()
  })
})
