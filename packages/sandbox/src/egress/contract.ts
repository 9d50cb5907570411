/** Cases: commands reach the gate that their sandbox has. */
import assert from 'node:assert/strict'
import type { ContractCases } from '../fixture.ts'
import { run, say, until } from '../fixture.ts'
import type { Sandbox } from '../sandbox.ts'
import { testAuthorities, startTestGate } from './fixture.ts'

/** Perl that connects to the proxy, requests a host name, and continues with `rest`. */
export const throughProxy = (
  rest: string,
  name = 'example.test:443',
) => `perl -MIO::Socket::INET -e '
  $| = 1; my ($place) = $ENV{HTTPS_PROXY} =~ m{^http://(.*)$};
  my $s = IO::Socket::INET->new($place) or die "no proxy: $!";
  print $s "CONNECT ${name} HTTP/1.1\\r\\n\\r\\n";
  my $head = ""; while (<$s>) { $head .= $_; last if /^\\r$/ }
  ${rest}'`

const variables = (sandbox: Sandbox, names: string) =>
  say(sandbox, `for name in ${names}; do printenv $name || echo none; done`)

export const egressCases: ContractCases = {
  'leads connections to the gate, and the answers back': async ({ folder, open }) => {
    await using there = await startTestGate(folder)
    const sandbox = await open({ egress: there.egress })
    const talk = 'print $s "hello"; shutdown $s, 1; local $/; print $head, <$s>'
    const answer = (await run(sandbox, throughProxy(talk))).output
    assert.equal(answer, 'HTTP/1.1 200 Yes\r\n\r\nhello')
    assert.deepEqual(there.heads, ['CONNECT example.test:443 HTTP/1.1'])
    await until('nothing stays open', () => there.open.size === 0)
  },

  'lets either side end first, and the other say the rest': async ({ folder, open }) => {
    await using there = await startTestGate(folder, (socket) => {
      socket.end('first')
      socket.on('data', (chunk: Buffer) => there.heads.push(chunk.toString()))
    })
    const sandbox = await open({ egress: there.egress })
    const talk = 'my $all = do { local $/; <$s> }; print $s "after"; close $s; print $all'
    assert.equal(await say(sandbox, throughProxy(talk)), 'first')
    await until('the rest is there', () => there.heads.at(-1) === 'after')
  },

  'holds back a gate that says more than is read, and loses nothing': async ({ folder, open }) => {
    const [piece, pieces] = [Buffer.alloc(1 << 20, 'x'), 64]
    let taken = 0
    await using there = await startTestGate(folder, (socket) => {
      const next = () =>
        taken < pieces ? socket.write(piece, () => (taken++, next())) : socket.end()
      next()
    })
    const sandbox = await open({ egress: there.egress })
    const wait = 'select undef, undef, undef, 0.05 until -e "go"'
    const talk = `${wait}; my ($n, $b) = (0); while (my $r = read $s, $b, 65536) { $n += $r } print $n`
    const command = run(sandbox, throughProxy(talk))
    let before = -1
    await until('nobody takes more', async () => {
      const same = taken === before && taken > 0
      before = taken
      await new Promise((resolve) => setTimeout(resolve, 100))
      return same
    })
    assert.ok(taken < pieces / 2, `${taken} MiB`)
    await sandbox.write('/workspace/go', Buffer.of(1))
    assert.equal((await command).output, String(pieces << 20))
  },

  'gives every command the variables of its gate, whatever the session sets': async ({
    folder,
    open,
  }) => {
    await using there = await startTestGate(folder)
    const env = { HTTPS_PROXY: 'http://elsewhere', SSL_CERT_FILE: '/elsewhere', OWN: 'kept' }
    const sandbox = await open({ egress: there.egress, env })
    const proxies = 'HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy'
    const found = new Set((await variables(sandbox, proxies)).split('\n'))
    assert.match([...found].join(' '), /^http:\/\/127\.0\.0\.1:\d+$/)
    const others = await variables(sandbox, 'NO_PROXY no_proxy NODE_USE_ENV_PROXY OWN')
    assert.deepEqual(others.split('\n'), [
      ...['localhost,127.0.0.1,::1', 'localhost,127.0.0.1,::1', '1', 'kept'],
    ])
    const bundles = 'SSL_CERT_FILE CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS PIP_CERT'
    const paths = new Set((await variables(sandbox, bundles)).split('\n'))
    assert.equal(paths.size, 1)
    assert.equal((await run(sandbox, `cat ${[...paths].join(' ')}`)).output, testAuthorities)
  },

  'sets no variables of a gate where there is none': async ({ open }) => {
    const sandbox = await open()
    assert.equal(await say(sandbox, 'env | grep -iE "proxy|cert|bundle|cainfo"'), '')
  },
}
