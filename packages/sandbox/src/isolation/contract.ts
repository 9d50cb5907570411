/** Cases: things that a command can neither see, reach, change nor exhaust, for providers that promise isolation. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { ContractCases } from '../fixture.ts'
import { uniqueSleep, processesWith, run, say, until } from '../fixture.ts'
import type { Sandbox } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'

const mebibyte = 1 << 20
const [EPERM, ENOSYS, ENETUNREACH, ECONNREFUSED] = ['1', '38', '101', '111']
const [EPROTONOSUPPORT, EAFNOSUPPORT] = ['93', '97']

/** The errno after a system call or function of Perl. */
const errnoOf = (sandbox: Sandbox, call: string) =>
  say(sandbox, `perl -MSocket -e '$! = 0; ${call}; print $!+0'`)
export const memoryHog = `perl -e '$a = "x" x (800 << 20); print length $a'`

/** Number of processes that can start, of a hundred sleeping ones. */
export async function sleepersIn(sandbox: Sandbox): Promise<number> {
  const sign = uniqueSleep()
  const fork = `my $pid = fork; last unless defined $pid; exec "sleep", "${sign}" unless $pid; $n++`
  const forked = Number(await say(sandbox, `perl -e 'for (1..100) { ${fork} } print $n'`))
  await until('all sleep', () => processesWith(sign).length === forked)
  await sandbox.restartShell()
  assert.deepEqual(processesWith(sign), [])
  return forked
}

export const isolationCases: ContractCases = {
  'finds nothing of the environment of the server': async (setup) => {
    const secret = `secret-${uniqueSleep()}`
    process.env['SECRET_OF_THE_SERVER'] = secret
    try {
      const sandbox = await setup.open({ env: { OWN: 'yes' } })
      const seen = await say(sandbox, 'env; cat /proc/[0-9]*/{environ,cmdline} | tr "\\0" "\\n"')
      assert.ok(!seen.includes(secret))
    } finally {
      delete process.env['SECRET_OF_THE_SERVER']
    }
  },

  'cannot look into the daemon, and is given no descriptor but three': async (setup) => {
    const sandbox = await setup.open()
    for (const file of ['environ', 'mem', 'maps', 'fd/0', 'root/', 'cwd/']) {
      assert.match(await say(sandbox, `cat /proc/1/${file}`), /denied|not permitted/, file)
    }
    // The fourth descriptor belongs to the folder listing itself.
    const list = 'opendir D, "/proc/self/fd"; print join " ", sort grep /\\d/, readdir D'
    assert.equal(await say(sandbox, `exec perl -e '${list}'`), '0 1 2 3')
  },

  'leads the server no further than its own view by a planted link': async (setup) => {
    const spec = setup.spec()
    writeFileSync(join(setup.folder, 'secret'), 'secret')
    symlinkSync(join(setup.folder, 'secret'), join(spec.workspace, 'link'))
    const sandbox = await setup.open(spec)
    const read = await sandbox.read('/workspace/link', { offset: 0, maxBytes: 100 })
    assert.equal(!read.ok && read.code, 'not_found')
  },

  'has no network: no loopback of the host, no route, no hypervisor': async (setup) => {
    const server = createServer((socket) => socket.end('reached'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    const sandbox = await setup.open()
    const connect = (host: string) =>
      `socket(S, AF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in(${address.port}, inet_aton("${host}")))`
    assert.equal(await errnoOf(sandbox, connect('127.0.0.1')), ECONNREFUSED)
    assert.equal(await errnoOf(sandbox, connect('192.0.2.1')), ENETUNREACH)
    for (const [name, family] of Object.entries({ packet: 17, alg: 38, vsock: 40, xdp: 44 })) {
      assert.equal(await errnoOf(sandbox, `socket(S, ${family}, 1, 0)`), EAFNOSUPPORT, name)
    }
    const [multipath, lite] = [262, 136]
    for (const socket of [`AF_INET, SOCK_STREAM, ${multipath}`, `AF_INET6, SOCK_DGRAM, ${lite}`]) {
      assert.equal(await errnoOf(sandbox, `socket(S, ${socket})`), EPROTONOSUPPORT, socket)
    }
    server.close()
  },

  'makes no namespace and no mount, and has no keys and no programs in the kernel': async (
    setup,
  ) => {
    const sandbox = await setup.open()
    const own = process.arch === 'x64' ? { keyctl: 250, bpf: 321 } : { keyctl: 219, bpf: 280 }
    const calls = { ...own, io_uring_setup: 425, fsopen: 430, open_tree: 428, mount_setattr: 442 }
    for (const [name, number] of Object.entries(calls)) {
      assert.equal(await errnoOf(sandbox, `syscall(${number}, 0, 0, 0, 0, 0)`), EPERM, name)
    }
    const later = { clone3: 435, statmount: 457, listmount: 458, open_tree_attr: 467 }
    for (const [name, number] of Object.entries(later)) {
      assert.equal(await errnoOf(sandbox, `syscall(${number}, 0, 0, 0, 0, 0)`), ENOSYS, name)
    }
    const commands = ['unshare -U true', 'unshare -n true', 'mount -t tmpfs x /tmp', 'umount /tmp']
    for (const command of commands) {
      assert.notEqual((await run(sandbox, command)).exitCode, 0, command)
    }
  },

  'writes only where it may, and there no more than the scratch space': async (setup) => {
    const sandbox = await setup.open({ limits: { scratch: 2 * mebibyte } })
    for (const folder of ['', '/usr', '/etc', '/opt/steward', '/dev', '/mnt', '/home', '/proc']) {
      assert.notEqual((await run(sandbox, `echo >${folder}/x`)).exitCode, 0, folder)
    }
    for (const folder of ['/tmp', '/run', '/home/user', '/dev/shm']) {
      const { exitCode } = await run(sandbox, `head -c ${4 * mebibyte} /dev/zero >${folder}/x`)
      assert.notEqual(exitCode, 0, folder)
      const size = Number(await say(sandbox, `stat -c %s ${folder}/x; rm ${folder}/x`))
      assert.ok(size > 0 && size <= 2 * mebibyte, folder)
    }
  },

  'forks no more than the limit, and the sandbox goes on': async (setup) => {
    const sandbox = await setup.open({ limits: { processes: 24 } })
    const count = await sleepersIn(sandbox)
    assert.ok(count > 0 && count <= 24, `${count} processes`)
    await run(sandbox, 'bomb() { bomb | bomb & }; bomb', 500)
    await sandbox.restartShell()
    assert.equal(await say(sandbox, 'echo on'), 'on')
  },

  'takes no more memory than the limit': async (setup) => {
    const sandbox = await setup.open({ limits: { memory: 48 * mebibyte } })
    assert.notEqual((await run(sandbox, memoryHog)).exitCode, 0)
  },

  'share neither processes nor files, nor a user of a host with a server as root': async (
    setup,
  ) => {
    const [here, there] = [setup.spec(), setup.spec()]
    const [first, second] = [await setup.open(here), await setup.open(there)]
    const sign = uniqueSleep()
    await run(first, `echo >/tmp/file; echo >file; (setsid sleep ${sign} &) >/dev/null 2>&1`)
    await until('it sleeps', () => processesWith(sign).length === 1)
    assert.equal(await say(second, 'ls /tmp /workspace | grep file'), '')
    assert.equal(await say(second, 'cat /proc/[0-9]*/comm | grep -c "^sleep$"'), '0')
    await run(second, 'kill -9 -1; echo >file')
    assert.equal(processesWith(sign).length, 1)
    if (process.getuid?.() !== 0) return
    const owners = [here, there].map(({ workspace }) => statSync(join(workspace, 'file')).uid)
    assert.ok(owners[0] !== owners[1] && !owners.includes(0), String(owners))
  },

  'rejects with the reason when a folder of the session is missing, and starts once it is there':
    async (setup) => {
      const spec = setup.spec()
      rmSync(spec.outputs, { recursive: true })
      await assert.rejects(setup.provider.acquire(spec), (error) => {
        return error instanceof SandboxEnded && /did not start.*outputs/.test(error.message)
      })
      mkdirSync(spec.outputs)
      await setup.open(spec)
    },
}
