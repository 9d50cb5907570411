/** Attempts to leave a bubblewrap sandbox other than by its gate. Each must fail. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readlinkSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, it } from 'node:test'
import { startTestGate } from '../egress/fixture.ts'
import type { Bench } from '../fixture.ts'
import { bench, run, say, until } from '../fixture.ts'
import type { Sandbox } from '../sandbox.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const provider = bubblewrapSandboxes()
const errno = { EPERM: '1', EACCES: '13', EPROTONOSUPPORT: '93', EAFNOSUPPORT: '97' }
const noWay = { ENETUNREACH: '101', ECONNREFUSED: '111', EADDRNOTAVAIL: '99', EINVAL: '22' }

/** A sandbox with a gate, and a function for the errno of a system call or Perl function there. */
async function inside(setup: Bench) {
  await using stack = new AsyncDisposableStack()
  const there = stack.use(await startTestGate(setup.folder))
  const spec = setup.spec({ egress: there.egress })
  const sandbox = await setup.open(spec)
  const kept = stack.move()
  return {
    there,
    spec,
    sandbox,
    errnoOf: (call: string) => perl(sandbox, `$! = 0; ${call}; print $!+0`),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
function statOf(path: string) {
  const { uid, mode } = statSync(path)
  return { uid, mode: mode & 0o777 }
}

const perl = (sandbox: Sandbox, script: string) => say(sandbox, `perl -MSocket=:all -e '${script}'`)

/** Addresses of this machine, of the metadata service, and of the internet. */
function addresses(family: 'IPv4' | 'IPv6'): string[] {
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter((each) => each.family === family && !each.internal)
    .map(({ address }) => address)
  const others = {
    IPv4: ['169.254.169.254', '192.0.2.1', '8.8.8.8'],
    IPv6: ['2001:db8::1', 'fd00:ec2::254'],
  }
  return [...own, ...others[family]]
}

const reach = (
  family: 'INET' | 'INET6',
  type: 'STREAM' | 'DGRAM',
  address: string,
  port: number,
) => {
  const pack = family === 'INET' ? 'pack_sockaddr_in' : 'pack_sockaddr_in6'
  return `socket(S, AF_${family}, SOCK_${type}, 0) && connect(S, ${pack}(${port}, inet_pton(AF_${family}, "${address}"))) && send(S, "x", 0)`
}

describe('a command in bubblewrap with a gate', () => {
  it('reaches no address of this or any other machine', async () => {
    await using setup = bench(provider)
    await using here = await inside(setup)
    const none = new Set(Object.values(noWay))
    for (const address of addresses('IPv4')) {
      for (const [type, port] of [
        ['STREAM', 443],
        ['STREAM', 22],
        ['DGRAM', 53],
      ] as const) {
        const left = await here.errnoOf(reach('INET', type, address, port))
        assert.ok(none.has(left), `${type} ${address}: ${left}`)
      }
    }
    for (const address of [...addresses('IPv6'), '::ffff:192.0.2.1']) {
      for (const type of ['STREAM', 'DGRAM'] as const) {
        const left = await here.errnoOf(reach('INET6', type, address, 443))
        assert.ok(none.has(left), `${type} ${address}: ${left}`)
      }
    }
    assert.deepEqual(here.there.heads, [])
  })

  it('finds on its loopback nothing of the host', async () => {
    await using setup = bench(provider)
    await using here = await inside(setup)
    const heard: string[] = []
    const server = createServer((socket) => (heard.push('tcp'), socket.destroy()))
    const datagrams = createSocket('udp4', () => heard.push('udp'))
    const abstract = createServer((socket) => (heard.push('abstract'), socket.destroy()))
    const name = `steward-${here.spec.id}`
    try {
      server.listen(0, '127.0.0.1')
      datagrams.bind(0, '127.0.0.1')
      abstract.listen(`\0${name}`)
      await Promise.all([server, datagrams, abstract].map((each) => once(each, 'listening')))
      const { port } = server.address() as AddressInfo
      assert.equal(
        await here.errnoOf(reach('INET', 'STREAM', '127.0.0.1', port)),
        noWay.ECONNREFUSED,
      )
      await here.errnoOf(reach('INET', 'DGRAM', '127.0.0.1', datagrams.address().port))
      const unix = `socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("\\0${name}"))`
      assert.equal(await here.errnoOf(unix), noWay.ECONNREFUSED)
      assert.deepEqual(heard, [])
    } finally {
      for (const each of [server, datagrams, abstract]) each.close()
    }
  })

  it('makes no sockets of families and types that lead elsewhere', async () => {
    await using setup = bench(provider)
    await using here = await inside(setup)
    for (const [name, family] of Object.entries({
      packet: 17,
      can: 29,
      alg: 38,
      vsock: 40,
      xdp: 44,
    })) {
      for (const type of ['SOCK_STREAM', 'SOCK_DGRAM', 'SOCK_RAW']) {
        assert.equal(
          await here.errnoOf(`socket(S, ${family}, ${type}, 0)`),
          errno.EAFNOSUPPORT,
          name,
        )
      }
    }
    for (const family of ['AF_INET', 'AF_INET6']) {
      for (const type of ['SOCK_RAW', 'SOCK_RAW | 02000000', 'SOCK_SEQPACKET', '6', '10']) {
        assert.equal(await here.errnoOf(`socket(S, ${family}, ${type}, 1)`), errno.EPERM, type)
      }
    }
    for (const protocol of [4, 12, 15, 16]) {
      assert.equal(
        await here.errnoOf(`socket(S, 16, SOCK_RAW, ${protocol})`),
        errno.EPROTONOSUPPORT,
      )
    }
    assert.equal(await perl(here.sandbox, 'print socket(S, 16, SOCK_RAW, 0) ? 1 : $!'), '1')
  })

  it('has no power over its network, and cannot replace the bridge', async () => {
    await using setup = bench(provider)
    await using here = await inside(setup)
    const bind = (port: number) =>
      `socket(S, AF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1); setsockopt(S, SOL_SOCKET, SO_REUSEPORT, 1); bind(S, pack_sockaddr_in(${port}, INADDR_LOOPBACK)) && listen(S, 1)`
    for (const port of [53, 80, 81, 443]) assert.equal(await here.errnoOf(bind(port)), errno.EACCES)
    assert.equal(await here.errnoOf(bind(3128)), '98')
    const upDown =
      'my $r = pack "Z16 s x14", "lo", 0; socket(S, AF_INET, SOCK_DGRAM, 0); ioctl(S, 0x8914, $r)'
    assert.equal(await here.errnoOf(upDown), errno.EPERM)
    const settings = 'echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start'
    assert.notEqual((await run(here.sandbox, settings)).exitCode, 0)
    const powers = 'cat /proc/[0-9]*/status | grep -E "^Cap" | cut -f2 | sort -u'
    assert.match(await say(here.sandbox, powers), /^0{16}$/)
    await run(here.sandbox, 'kill -9 1; kill -9 -1')
    assert.equal(await say(here.sandbox, 'echo on'), 'on')
    assert.deepEqual(here.there.heads, [])
  })

  it('finds no process by which it could enter the network of the host', async () => {
    await using setup = bench(provider)
    await using here = await inside(setup)
    const own = await say(here.sandbox, 'readlink /proc/self/ns/net')
    assert.match(own, /^net:/)
    assert.notEqual(own, readlinkSync('/proc/self/ns/net'))
    const seen = 'readlink /proc/[0-9]*/ns/net /proc/[0-9]*/task/*/ns/net | sort -u'
    assert.equal(await say(here.sandbox, seen), own)
    const devices = 'tail -n +3 /proc/net/dev | cut -d: -f1 | xargs; ls /proc/1/fd /proc/1/root/'
    assert.match(await say(here.sandbox, devices), /^lo\n.*denied.*\n.*denied/)
    assert.equal(await say(here.sandbox, 'wc -l </proc/net/route'), '1')
    for (const command of [
      'nsenter -t 1 -n true',
      'nsenter -n/proc/self/ns/net true',
      'unshare -Un true',
    ]) {
      assert.notEqual((await run(here.sandbox, command)).exitCode, 0, command)
    }
  })

  it('finds its own gate alone', async () => {
    await using setup = bench(provider)
    await using other = await inside(setup)
    await using here = await inside({ ...setup, folder: setup.spec().workspace })
    const sockets = String.raw`find / \( -path /proc -o -path /usr \) -prune -o -xtype s -print 2>/dev/null; cut -c54- /proc/net/unix | grep /`
    assert.equal(await say(here.sandbox, sockets), '/opt/steward/gate.sock')
    const { socket } = other.there.egress
    assert.notEqual((await run(here.sandbox, `test -e ${socket}`)).exitCode, 0)
    const connect = (path: string) =>
      `socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("${path}")) && send(S, "GET /\\r\\n\\r\\n", 0)`
    await here.errnoOf(connect('/opt/steward/gate.sock'))
    await until('its own gate has heard of it', () => here.there.heads.length === 1)
    assert.deepEqual(other.there.heads, [])
    if (process.getuid?.() !== 0) return
    const users = [other, here].map(({ there }) => statOf(there.egress.socket))
    assert.ok(users[0]?.uid !== users[1]?.uid && users.every(({ mode }) => mode === 0o600))
  })
})
