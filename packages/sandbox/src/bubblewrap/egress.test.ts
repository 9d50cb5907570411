/** The bridge to a gate, for programs that know of no proxy and for hostile programs. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { throughProxy } from '../egress/contract.ts'
import { testAuthorities, startTestGate } from '../egress/fixture.ts'
import { bench, run, say, until } from '../fixture.ts'
import type { Sandbox, SandboxSpec } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const provider = bubblewrapSandboxes()
const links = 256
const names = 1_024

const perl = (sandbox: Sandbox, script: string) =>
  say(sandbox, `perl -MSocket=:addrinfo,:DEFAULT -MIO::Socket::INET -e '${script}'`)
/** A script that sends hello to a port of a name or address, and prints the answer. */
const hello = (host: string, port: number) =>
  `my $s = IO::Socket::INET->new("${host}:${port}") or die $!; print $s "hello"; shutdown $s, 1; print <$s>`
/** The answers of Node's resolver to a query, or the code of the error. */
const resolve = (sandbox: Sandbox, type: string, name: string) =>
  say(
    sandbox,
    `node -p 'const say = (x) => console.log(String(x)); require("dns").promises.resolve("${name}", "${type}").then(say, (e) => say(e.code)); ""'`,
  )

/** CPU ticks of the daemon, which is the child of the recorded process. */
function ticksOf({ workspace }: SandboxSpec): number {
  const { pid } = JSON.parse(readFileSync(join(dirname(workspace), 'sandbox.json'), 'utf8'))
  const daemon = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const fields = readFileSync(`/proc/${daemon}/stat`, 'utf8').split(' ')
  return Number(fields[13]) + Number(fields[14])
}

describe('a program in bubblewrap that knows of no proxy', () => {
  it('reaches the gate at ports 80 and 443 of every name', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    assert.equal(await perl(sandbox, hello('one.test', 443)), 'hello')
    assert.equal(await perl(sandbox, hello('Two.Test', 80)), 'hello')
    assert.deepEqual(there.heads, [
      'CONNECT one.test:443 HTTP/1.1\r\nHost: one.test:443',
      'CONNECT two.test:80 HTTP/1.1\r\nHost: two.test:80',
    ])
    await until('nothing stays open', () => there.open.size === 0)
  })

  it('is cut off if the gate refuses, or is closed, and at addresses without a name', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    assert.equal(await perl(sandbox, hello('refused.test', 443)), '')
    for (const address of ['127.0.0.1', '127.64.9.9', '127.127.255.255']) {
      assert.equal(await perl(sandbox, hello(address, 443)), '', address)
    }
    assert.equal(there.heads.length, 1)
    await there[Symbol.asyncDispose]()
    assert.equal(await perl(sandbox, hello('one.test', 443)), '')
    assert.equal(await perl(sandbox, hello('127.0.0.1', 3128)), '')
    assert.equal(await say(sandbox, 'echo on'), 'on')
  })

  it('trusts the certificates that were given with the gate, wherever it looks', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    for (const path of ['certs/ca-certificates.crt', 'cert.pem']) {
      assert.equal((await run(sandbox, `cat /etc/ssl/${path}`)).output, testAuthorities)
      assert.notEqual((await run(sandbox, `echo >>/etc/ssl/${path}`)).exitCode, 0)
    }
  })

  it('finds nobody at the ports of the bridge when the sandbox has no gate', async () => {
    await using setup = bench(provider)
    const sandbox = await setup.open()
    for (const port of [53, 80, 443, 3128]) {
      assert.match(await perl(sandbox, hello('127.0.0.1', port)), /^Connection refused/)
    }
    assert.notEqual((await run(sandbox, 'test -e /opt/steward/gate.sock')).exitCode, 0)
  })
})

describe('the names in bubblewrap', () => {
  it('have an address each, and nothing else', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    const lookUps = 'for name in one.test two.test ONE.test; do getent hosts $name; done'
    const addresses = (await say(sandbox, lookUps)).split('\n').map((line) => line.split(/\s/)[0])
    assert.deepEqual(addresses, ['127.64.0.1', '127.64.0.2', '127.64.0.1'])
    assert.equal(await resolve(sandbox, 'A', 'two.test'), '127.64.0.2')
    for (const type of ['AAAA', 'TXT', 'MX', 'SRV']) {
      assert.equal(await resolve(sandbox, type, 'one.test'), 'ENODATA', type)
    }
    const line = String.raw`my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:53", Proto => "udp");
      send $s, pack("n6", 7, 0x100, 1, 0, 0, 0) . "\4a\r\nb\4test\0\0\1\0\1", 0; recv $s, my $a, 512, 0;
      print join " ", unpack "n4", $a`
    assert.equal(await perl(sandbox, line), `7 ${0x8183} 1 0`)
    assert.equal(await perl(sandbox, 'print inet_ntoa(inet_aton("localhost"))'), '127.0.0.1')
    const hints = '{ family => AF_INET, socktype => SOCK_STREAM, flags => AI_ADDRCONFIG }'
    const ask = `my ($e, @r) = Socket::getaddrinfo("one.test", 443, ${hints}); print $e || scalar @r`
    assert.equal(await perl(sandbox, ask), '1', 'for a program that asks only where there is IPv4')
  })

  it('are answered over TCP too, as many as are asked', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    const query = String.raw`my $q = pack "n6", 7, 0x100, 1, 0, 0, 0; $q .= "\3one\4test\0\0\1\0\1"`
    const script = `${query}; my $s = IO::Socket::INET->new("127.0.0.1:53"); print $s pack("n/a", $q) x 2;
      shutdown $s, 1; local $/; my $a = <$s>; print join " ", length $a, unpack "nnn", substr $a, 0, 6`
    assert.equal(await perl(sandbox, script), '88 42 7 33152')
  })

  it('are forgotten before they are more than a bound, those used last are not', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    const flood = `for (1..${names}) { inet_aton("n$_.test"); inet_aton("kept.test") unless $_ % 100 }`
    const [gone, kept] = (
      await perl(
        sandbox,
        `my @a = map { inet_ntoa(inet_aton($_)) } "gone.test", "kept.test"; ${flood}; print "@a"`,
      )
    ).split(' ')
    assert.equal(await perl(sandbox, hello(gone ?? '', 443)), '')
    assert.equal(await perl(sandbox, hello(kept ?? '', 443)), 'hello')
    assert.match(there.heads.join(), /^CONNECT kept.test:443 [^,]*$/)
  })
})

describe('the bridge', () => {
  it('outlives packets that are no query, and answers the next', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    const flood = String.raw`
      my $to = pack_sockaddr_in(53, inet_aton("127.0.0.1")); socket U, AF_INET, SOCK_DGRAM, 0; srand 1;
      my $head = pack "n6", 7, 0x100, 1, 0, 0, 0;
      my @bad = ("", "x", $head, "$head\xc0\x0c", "$head\x3f", $head . ("\1a" x 200) . "\0\0\1\0\1", "x" x 2000);
      push @bad, join "", map { chr rand 256 } 1 .. rand 600 for 1 .. 2000;
      for (@bad) { send U, $_, 0, $to; my $s = IO::Socket::INET->new("127.0.0.1:53"); print $s pack "n/a", $_ }
      print inet_ntoa(inet_aton("one.test"))`
    assert.match(await perl(sandbox, flood), /^127\.64\./)
    assert.equal(await perl(sandbox, hello('one.test', 443)), 'hello')
  })

  it('lets connections beyond its bound wait, and serves them when there is room', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const sandbox = await setup.open({ egress: there.egress })
    const open = `my @all = map { my $s = IO::Socket::INET->new("127.0.0.1:3128") or die $!; print $s "GET / HTTP/1.1\\r\\n\\r\\n"; $s } 1..${links + 50}`
    const sleeping = run(
      sandbox,
      `perl -MIO::Socket::INET -e '$| = 1; ${open}; select undef, undef, undef, 0.02 until -e "go"'`,
    )
    await until('as many are open as may be', () => there.open.size === links)
    const file = await sandbox.write('/workspace/still', Buffer.of(1))
    assert.ok(file.ok && there.open.size === links)
    await sandbox.write('/workspace/go', Buffer.of(1))
    assert.equal((await sleeping).exitCode, 0)
    assert.equal(await perl(sandbox, hello('one.test', 443)), 'hello')
    await until('all are closed', () => there.open.size === 0)
  })

  it('takes no time for connections on which nothing moves', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder, (socket) =>
      socket.end(Buffer.alloc(4 << 20)),
    )
    const spec = setup.spec({ egress: there.egress })
    const sandbox = await setup.open(spec)
    const idle = throughProxy('print "open"; close STDOUT; close STDERR; sleep 60')
    for (let i = 0; i < 4; i++) await run(sandbox, `(${idle}) &`)
    await until('they are open', () => there.heads.length === 4)
    await delay(200)
    const before = ticksOf(spec)
    await delay(500)
    assert.ok(ticksOf(spec) - before <= 2, `${ticksOf(spec) - before} ticks`)
  })

  it('does not begin without a socket', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    rmSync(there.egress.socket)
    await assert.rejects(setup.open({ egress: there.egress }), SandboxEnded)
  })
})
