/** A program in a sandbox tries every way out except the gate, through the whole service. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { gateSocketOf } from '@steward/server/engine/runner/gate-socket-fixture.ts'
import type { KeyCaller } from '../caller.ts'
import { callerAt } from '../caller.ts'
import type { McpHosts } from '../mcp.ts'
import { errorsOf, mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]
const token = `canary-${crypto.randomUUID()}`

/** A command that writes these bytes (in the form of `printf`) to the gate and prints the head of the answer. */
const raw = (bytes: string) =>
  `exec 3<>/dev/tcp/127.0.0.1/3128; printf '${bytes}' >&3; timeout 3 cat <&3 | head -c 600; exec 3<&-`

describe('escapes from a sandbox', () => {
  let service: TestService
  /** A caller of a server without test overrides, which resolves names and checks addresses as in production. */
  let plain: KeyCaller
  let server: ServerProcess
  let folder: string
  let hosts: McpHosts
  let session: string
  let direct: ReturnType<typeof createServer>
  let directly = 0
  before(async () => {
    hosts = await mcpHosts()
    for (const host of ['api.example', 'other.example']) {
      hosts.set(host, async (request) => Response.json({ host, body: await request.text() }))
    }
    direct = createServer((socket) => {
      directly++
      socket.end()
    }).listen(0)
    await once(direct, 'listening')
    service = await boot('sqlite', { overrides: { nameOverride: hosts.outside } })
    folder = await mkdtemp(join(tmpdir(), 'steward-escapes-'))
    server = await startServer({ DATA_DIR: folder })
    plain = callerAt(server.base, adminKey)
    const auth = { type: 'static_bearer', token, mcp_server_url: 'https://api.example/' }
    session = await sessionOf(service, { tools, vault_ids: [await vaultOf(service, auth)] })
  })
  after(async () => {
    direct.close()
    await hosts[Symbol.asyncDispose]()
    await service.close()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  async function run(
    script: string,
    at: { service: KeyCaller; session: string } = { service, session },
  ): Promise<string> {
    const events = await turn(at.service, at.session, `run: <<END\n${script}\nEND`)
    return textOf(only(events, 'agent.tool_result'))
  }
  const portOf = () => (direct.address() as AddressInfo).port

  verifies(
    ['egress/required/no-direct'],
    'no connection goes around the gate: no address, no resolver, no other kind of socket',
    async () => {
      const port = portOf()
      const connects = ['127.0.0.1', '[::1]', hostname(), '93.184.216.34', '[2606:2800:220:1::1]']
        .map((host) => `curl -s --noproxy '*' -m 2 http://${host}:${port}/ && echo REACHED`)
        .join('\n')
      const said = await run(`${connects}
for resolver in 8.8.8.8 127.0.0.53 $(awk '/^nameserver/ {print $2}' /etc/resolv.conf); do
  perl -MIO::Socket::INET -e '
    my $s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 53, Proto => "udp") or exit;
    $s->send("\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x04evil\\x07example\\x00\\x00\\x10\\x00\\x01");
    my $r = ""; vec($r, fileno($s), 1) = 1;
    print "ANSWERED $ARGV[0] ", unpack("H*", do { my $b; $s->recv($b, 512); $b // "" }), "\\n" if select($r, undef, undef, 1)' $resolver
done
for family in 40 17 31 38; do
  perl -MSocket -e 'socket(my $s, $ARGV[0], SOCK_STREAM, 0) and print "OPENED $ARGV[0]\\n"' $family
  perl -MSocket -e 'socket(my $s, $ARGV[0], SOCK_RAW, 0) and print "OPENED raw $ARGV[0]\\n"' $family
done
perl -MSocket -e 'socket(my $s, 16, SOCK_RAW, 12) and print "OPENED netfilter\n"'
perl -MSocket -e 'socket(my $s, AF_INET, SOCK_RAW, 1) and print "OPENED icmp\n"'
echo devices $(awk -F: 'NR > 2 {print $1}' /proc/net/dev)
echo done`)
      assert.doesNotMatch(said, /REACHED|OPENED/)
      assert.match(said, /^devices lo\ndone$/m)
      // The sandbox's own resolver answers. It knows no other resolver and returns addresses of the sandbox.
      assert.doesNotMatch(said, /ANSWERED 8\.8\.8\.8/)
      assert.equal(directly, 0)
    },
  )

  verifies(
    ['egress/required/no-direct', 'environments/network/allowlist'],
    'the gate takes no bare address, however it is spelled, and no port of another protocol',
    async () => {
      const port = portOf()
      const spellings = [
        ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '0'],
        ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '169.254.169.254', '2852039166'],
        ...['[fd00:ec2::254]', '127.0.0.1.', '１２７.0.0.1'],
      ]
      const before = hosts.noted.length
      const asked = spellings.map(
        (host) => `printf '%s ' ${host}\n${raw(`CONNECT ${host}:${port} HTTP/1.1\\r\\n\\r\\n`)}`,
      )
      const got = spellings.map((host) =>
        raw(`GET http://${host}:${port}/ HTTP/1.1\\r\\nHost: ${host}:${port}\\r\\n\\r\\n`),
      )
      const ports = [22, 25, 53, 110, 465, 6667].map((each) =>
        raw(`CONNECT api.example:${each} HTTP/1.1\\r\\nHost: api.example:${each}\\r\\n\\r\\n`),
      )
      for (const scripts of [asked, got, ports]) {
        const said = await run(scripts.join('\n'))
        assert.doesNotMatch(said, /HTTP\/1\.1 (?!4)/)
        const answers = said.match(/HTTP\/1\.1 4\d\d/g) ?? []
        assert.equal(answers.length, scripts.length, said)
      }
      assert.deepEqual([hosts.noted.length, directly], [before, 0])
    },
  )

  verifies(
    ['egress/required/no-direct'],
    'names that lead to the machine itself are not dialled',
    async () => {
      const at = { service: plain, session: await sessionOf(plain, { tools }) }
      const port = portOf()
      const names = ['localhost', 'LOCALHOST.', 'localhost.localdomain', hostname()]
      const said = await run(
        names
          .map((name) => `curl -sk -m 5 https://${name}:${port}/; echo " ${name} $?"`)
          .join('\n'),
        at,
      )
      const tunnels = await run(
        names.map((name) => raw(`CONNECT ${name}:${port} HTTP/1.1\\r\\n\\r\\n`)).join('\n'),
        at,
      )
      for (const name of names) assert.match(said, new RegExp(` ${name} [1-9]`))
      assert.doesNotMatch(tunnels, /HTTP\/1\.1 200/)
      assert.match(tunnels, /localhost leads to a private or reserved address/)
      assert.equal(directly, 0)
      const url = `http://localhost:${port}/`
      const asked = await turn(plain, at.session, `call web_fetch ${JSON.stringify({ url })}`)
      assert.match(textOf(only(asked, 'agent.tool_result')), /private or reserved address/)
      const servers = [`localhost:${port}`, `127.1:${port}`, '169.254.169.254', '[::1]'].map(
        (host, n) => ({ name: `s${n}`, type: 'url', url: `http://${host}/mcp` }),
      )
      const events = await turn(plain, await sessionOf(plain, { servers }), 'say: hello')
      const errors = errorsOf(events)
      assert.equal(errors.length, servers.length)
      for (const error of errors) assert.match(error, /private or reserved address/)
      assert.equal(directly, 0)
      // The sandbox cannot reach the service that runs it either.
      const base = new URL(server.base)
      const own = await run(`curl -s -m 3 --noproxy '*' ${base.href}health || echo none`, at)
      assert.match(own, /none/)
    },
  )

  verifies(
    ['egress/required/no-direct'],
    'a connection is for the host it was judged by: no other name in TLS, none in the request',
    async () => {
      const before = hosts.noted.length
      const said = await run(
        [
          // The name in TLS differs from the name of the connection, with and without interception.
          'curl -sk -m 5 --connect-to api.example:443:other.example:443 https://api.example/; echo " $?"',
          'curl -sk -m 5 --connect-to other.example:443:api.example:443 https://other.example/; echo " $?"',
          'curl -sk -m 5 --connect-to nobody.example:443:other.example:443 https://nobody.example/; echo " $?"',
          // The name in the request differs from the name in TLS.
          'curl -s -m 5 -o /dev/null -w "%{http_code}\\n" -H "Host: other.example" https://api.example/',
          'curl -s -m 5 -o /dev/null -w "%{http_code}\\n" -H "Host: api.example" http://other.example/',
        ].join('\n'),
      )
      const lines = said.split('\n').filter((line) => /^\s?\d+$/.test(line))
      assert.deepEqual(lines.slice(3), ['421', '421'], said)
      for (const line of lines.slice(0, 3)) assert.match(line, /^ [1-9]/, said)
      assert.equal(hosts.noted.length, before, said)
      const { authorization } = (await allowed()) ?? {}
      assert.equal(authorization, `Bearer ${token}`)
    },
  )

  /** Returns an allowed request as the upstream received it. */
  async function allowed() {
    await run('curl -s -m 5 https://api.example/')
    return hosts.noted.at(-1)
  }

  verifies(
    ['egress/required/no-direct'],
    'requests that two readers could read in two ways, or that are too large, go nowhere',
    async () => {
      const before = hosts.noted.length
      const head = 'POST http://other.example/ HTTP/1.1\\r\\nHost: other.example\\r\\n'
      const smuggled = 'GET http://api.example/smuggled HTTP/1.1\\r\\nHost: api.example\\r\\n\\r\\n'
      const tails = [
        `Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n${smuggled}`,
        `Content-Length: 0\\r\\nContent-Length: 90\\r\\n\\r\\n${smuggled}`,
        `Content-Length: +0\\r\\n\\r\\n${smuggled}`,
        `Transfer-Encoding : chunked\\r\\n\\r\\n0\\r\\n\\r\\n${smuggled}`,
        `Transfer-Encoding: xchunked\\r\\n\\r\\n0\\r\\n\\r\\n${smuggled}`,
        `X: a\\r\\n Host: api.example\\r\\n\\r\\n`,
        `Host: api.example\\r\\n\\r\\n`,
        `X: a\\nHost: api.example\\r\\n\\r\\n`,
        `X: a\\rHost: api.example\\r\\n\\r\\n`,
        `X\\x00: a\\r\\n\\r\\n`,
      ]
      const said = await run(tails.map((tail) => raw(head + tail)).join('\n'))
      assert.doesNotMatch(said, /HTTP\/1\.1 (?!4|501)/)
      assert.ok((said.match(/HTTP\/1\.1 /g)?.length ?? 0) >= tails.length, said)
      const large = await run(
        `big=$(head -c 90000 /dev/zero | tr '\\0' a)
curl -s -m 5 -o /dev/null -w '%{http_code}\\n' https://api.example/ -H @<(echo "Y: $big")
curl -s -m 5 -o /dev/null -w '%{http_code}\\n' -K <(echo "url = \\"https://api.example/?$big\\"")`,
      )
      assert.deepEqual(large.match(/\d{3}/g), ['431', '431'])
      assert.equal(hosts.noted.length, before)
      assert.equal((await allowed())?.path, '/')
    },
  )

  verifies(
    ['egress/required/no-direct', 'egress/fence/scope'],
    'a command does not find the gate of another session',
    async () => {
      const other = await sessionOf(service, { tools })
      await run('true', { service, session: other })
      const socket = gateSocketOf(service.dataDir, session)
      const said = await run(
        `curl -s -m 3 --unix-socket ${socket} http://api.example/ && echo REACHED
find / -name 'egress.sock' -o -name '*${session}*' 2>/dev/null | grep -v ^/proc
perl -ne 'print if /@/' /proc/net/unix
echo done`,
        { service, session: other },
      )
      assert.doesNotMatch(said, /REACHED|egress\.sock/)
      assert.ok(!said.includes(session), said)
      const echoed = await run('curl -s -m 5 https://api.example/ -k', { service, session: other })
      assert.match(echoed, /api\.example/)
      assert.equal(hosts.noted.at(-1)?.authorization, undefined)
    },
  )
})
