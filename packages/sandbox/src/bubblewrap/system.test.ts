import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startTestGate } from '../egress/fixture.ts'
import { bench, say } from '../fixture.ts'
import { SandboxEnded } from '../sandbox.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'
import { makeRoot, putFile } from './root-fixture.ts'

const provider = bubblewrapSandboxes()

/** Files of the host's /etc that programs expect. `hidden`: files that may hold credentials of the operator. */
const expected =
  /^(alternatives|debian_version|ethertypes|fonts|java-.*|magic|mime\.types|os-release|perl|protocols|python3.*|services)$/
const hidden = ['gitconfig', 'npmrc', 'pip.conf', 'maven', 'shadow', 'machine-id', 'docker']

describe('a sandbox of the host’s own system', () => {
  it('has in /etc what programs expect there, read-only, and no settings that may hold credentials', async () => {
    await using setup = bench(provider)
    const sandbox = await setup.open()
    const there = readdirSync('/etc').filter((name) => expected.test(name))
    assert.ok(there.length > 5, `this machine has little in /etc: ${there.join(', ')}`)
    const seen = (await say(sandbox, 'ls -A /etc')).split('\n')
    assert.deepEqual(
      there.filter((name) => !seen.includes(name)),
      [],
    )
    assert.deepEqual(
      hidden.filter((name) => seen.includes(name)),
      [],
    )
    const unread = await say(sandbox, 'find -L /etc -type f ! -readable 2>/dev/null')
    assert.equal(unread, '')
    const written = await say(
      sandbox,
      `for name in ${there.join(' ')}; do test -w "/etc/$name" && echo "$name"; done`,
    )
    assert.equal(written, '')
  })

  it('runs the programs that keep their settings there', async () => {
    await using setup = bench(provider)
    const sandbox = await setup.open({ limits: { memory: 1024 << 20 } })
    const programs: Record<string, readonly [command: string, said: RegExp]> = {
      java: [
        "cd /tmp && printf %s 'class A { public static void main(String[] a) { System.out.println(java.security.Security.getProviders().length > 0); } }' >A.java && java A.java",
        /^true$/,
      ],
      perl: ['perl -e \'print scalar getprotobyname("tcp")\'', /^6$/],
      getent: ['getent services https', /^https\s+443\/tcp/],
      python3: [
        'python3 -c \'import mimetypes; print(mimetypes.guess_type("a.docx")[0])\'',
        /wordprocessingml/,
      ],
      'fc-list': ['fc-list >/dev/null && echo listed', /^listed$/],
    }
    const found = Object.entries(programs).filter(([name]) => existsSync(`/usr/bin/${name}`))
    assert.ok(found.length > 0, 'none of these programs is installed: apt-get install perl')
    for (const [name, [command, said]] of found)
      assert.match(await say(sandbox, `${command} 2>&1`), said, name)
  })
})

describe('a layer over the system of a sandbox', () => {
  it('shows its programs, libraries and settings at their own paths, before those of the host', async () => {
    await using setup = bench(provider)
    await using there = await startTestGate(setup.folder)
    const layer = join(setup.folder, 'layer')
    putFile(join(layer, 'usr/bin/brought'), '#!/bin/sh\ncat /usr/share/brought/text\n')
    putFile(join(layer, 'usr/bin/bzip2'), '#!/bin/sh\necho another bzip2\n')
    putFile(join(layer, 'usr/share/brought/text'), 'from the layer\n')
    putFile(join(layer, 'etc/brought.conf'), 'setting\n')
    putFile(join(layer, 'etc/passwd'), 'intruder:x:0:0::/:/bin/sh\n')
    symlinkSync(join(setup.folder, 'secret'), join(layer, 'etc/link'))
    putFile(join(setup.folder, 'secret'), 'of the server')
    const sandbox = await setup.open({ layer, egress: there.egress })
    const said = await say(
      sandbox,
      'brought; bzip2; cat /etc/brought.conf; id -un; cat /etc/link 2>&1; ls /usr/bin/env; touch /usr/bin/new 2>&1',
    )
    assert.deepEqual(said.split('\n'), [
      ...['from the layer', 'another bzip2', 'setting', 'user'],
      ...['cat: /etc/link: No such file or directory', '/usr/bin/env'],
      "touch: cannot touch '/usr/bin/new': Read-only file system",
    ])
  })

  it('is not there for a sandbox that has none', async () => {
    await using setup = bench(provider)
    assert.equal(await say(await setup.open(), 'ls /usr/bin/brought 2>&1 | wc -l'), '1')
  })
})

describe('folders whose programs are found first', () => {
  it('come before all others', async () => {
    await using setup = bench(provider)
    const source = join(setup.folder, 'tools')
    putFile(join(source, 'bin/rg'), '#!/bin/sh\necho mine\n')
    const mounts = [{ source, path: '/opt/tools', access: 'read' }] as const
    const sandbox = await setup.open({ mounts, path: ['/opt/tools/bin'] })
    assert.equal(await say(sandbox, 'rg'), 'mine')
  })
})

describe('a sandbox that starts from a root folder', () => {
  it('sees its system and nothing of the host’s', async () => {
    await using setup = bench(provider)
    const root = join(setup.folder, 'root')
    makeRoot(root, ['/usr/bin/bash', '/usr/bin/cat', '/usr/bin/ls', '/usr/bin/sleep'])
    const roots = new Map([['small', root]])
    const small = bubblewrapSandboxes({ roots })
    const sandbox = await small.acquire(setup.spec({ image: 'small' }))
    const seen = await say(
      sandbox,
      'cat /etc/os-release /opt/thing/file /var/lib/file; ls /usr/bin; ls /etc/passwd; echo hi >/workspace/a; cat a',
    )
    await sandbox.close()
    assert.deepEqual(seen.split('\n'), [
      ...['NAME="a small one"', 'thing', 'state', 'bash', 'cat', 'ls', 'sleep'],
      ...['/etc/passwd', 'hi'],
    ])
  })

  it('is refused if the operator has none of that name, or it is missing', async () => {
    await using setup = bench(provider)
    mkdirSync(join(setup.folder, 'root/usr'), { recursive: true })
    const roots = new Map([
      ['small', join(setup.folder, 'root')],
      ['gone', '/nowhere'],
    ])
    const some = bubblewrapSandboxes({ roots })
    assert.match(some.refuseImage('/etc') ?? '', /none of its root folders: small, gone/)
    assert.match(some.refuseImage('gone') ?? '', /not there/)
    assert.equal(some.refuseImage('small'), undefined)
    await assert.rejects(some.acquire(setup.spec({ image: '/etc' })), SandboxEnded)
  })
})
