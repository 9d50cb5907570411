/** The contract of sandboxes in containers, beyond the contract of all sandboxes. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startTestGate } from '../egress/fixture.ts'
import type { ContractCases } from '../fixture.ts'
import { uniqueSleep, processesWith, run, say, until } from '../fixture.ts'
import type { Sandbox } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'
import { ownerLabel } from './container.ts'
import { dockerSandboxes } from './docker.ts'
import type { Engine } from './engine.ts'
import { engineSecret, testImage } from './fixture.ts'
import type { startRegistry } from './registry-fixture.ts'
import { standIn } from './stand-in-fixture.ts'

const perl = (sandbox: Sandbox, script: string) =>
  say(sandbox, `perl -MSocket=:addrinfo,:DEFAULT -MIO::Socket::INET -e '${script}'`)
const hello = (host: string, port: number) =>
  `my $s = IO::Socket::INET->new("${host}:${port}") or die $!; print $s "hello"; shutdown $s, 1; print <$s>`

export const containerCases: ContractCases = {
  'says what it isolates, after it has tried': async ({ provider }) => {
    const checked = await provider.check()
    assert.ok(checked.ok, JSON.stringify(checked))
    const { limits, users, ...isolation } = checked.isolation
    assert.deepEqual(isolation, { level: 'kernel', network: 'none', gate: true })
    assert.match(users, /^(own|shared)$/)
    if (process.getuid?.() !== 0) assert.equal(users, 'shared')
    assert.match(limits, /^(cgroup[12]|rlimit)$/)
  },

  'is an ordinary user without power, under both filters, with a home and a name': async ({
    open,
    spec,
  }) => {
    const mine = spec()
    const sandbox = await open(mine)
    const who = await say(
      sandbox,
      'id -un; cd; pwd; echo ok >file; cat file; touch /workspace/file',
    )
    assert.equal(who, 'user\n/home/user\nok')
    const { uid } = statSync(join(mine.workspace, 'file'))
    assert.equal(await say(sandbox, 'id -u; id -g; id -G'), [uid, uid, uid].join('\n'))
    const powers = 'grep -E "^(Cap|NoNew|Seccomp_f)" /proc/self/status | cut -f2 | sort -u | xargs'
    assert.match(await say(sandbox, powers), /^0{16} 1 2$/)
    assert.match(await say(sandbox, 'rg --version'), /^ripgrep/)
  },

  'finds nothing of the engine: no socket, no variable': async ({ folder, open }) => {
    await using there = await startTestGate(folder)
    const sandbox = await open({ egress: there.egress })
    const seen = await say(sandbox, 'env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"')
    assert.ok(!seen.includes(engineSecret))
    const all = 'find / -path /proc -prune -o -printf "%M %p\\n" 2>/dev/null'
    assert.match(await say(sandbox, `${all} | grep ^s`), /^s\S+ \/opt\/steward\/gate.sock$/)
  },

  'leads programs that know of no proxy to the gate, by names that have an address each': async ({
    folder,
    open,
  }) => {
    await using there = await startTestGate(folder)
    const sandbox = await open({ egress: there.egress })
    assert.equal(await perl(sandbox, hello('one.test', 443)), 'hello')
    assert.equal(await perl(sandbox, hello('Two.Test', 80)), 'hello')
    assert.deepEqual(there.heads, [
      'CONNECT one.test:443 HTTP/1.1\r\nHost: one.test:443',
      'CONNECT two.test:80 HTTP/1.1\r\nHost: two.test:80',
    ])
    const ask = (hints: string) =>
      `my ($e, @r) = Socket::getaddrinfo("one.test", 443, { socktype => SOCK_STREAM, ${hints} }); print $e || scalar @r`
    assert.equal(await perl(sandbox, ask('family => AF_INET')), '1')
    assert.equal(await perl(sandbox, ask('flags => AI_ADDRCONFIG')), '1')
    assert.equal(
      (await run(sandbox, 'cat /etc/ssl/cert.pem')).output,
      'the authorities of the test\n',
    )
  },

  'has the variables of its image, and its volumes in memory': async ({ open }) => {
    const sandbox = await open({ limits: { scratch: 1 << 20 } })
    assert.equal(await say(sandbox, 'echo $OF_THE_IMAGE'), 'yes')
    assert.match(await say(sandbox, 'echo $PATH'), /:\/of\/the\/image:\/usr\/bin$/)
    assert.equal(await say(sandbox, 'stat -f -c %T /kept /etc/skel'), 'tmpfs\ntmpfs')
    assert.equal(await say(sandbox, 'ls -A /kept /etc/skel'), '/etc/skel:\n\n/kept:')
    assert.notEqual((await run(sandbox, 'head -c 4000000 /dev/zero >/kept/file')).exitCode, 0)
  },
}

/** A container whose server died between its creation and its start. */
async function leftBehind(engine: Engine): Promise<string> {
  const made = { Image: testImage, Cmd: ['true'], Labels: { [ownerLabel]: 'sesn_gone' } }
  return ((await engine.call('POST', '/containers/create', made)) as { Id: string }).Id
}

/** `engine` and `images` exist once the cases run. */
export function imageCases(
  there: () => {
    socket: string
    engine: Engine
    images: Awaited<ReturnType<typeof startRegistry>>
    reported: string[]
  },
): ContractCases {
  const refused = (words: RegExp) => (error: unknown) =>
    error instanceof SandboxEnded && words.test(error.message)
  return {
    'finds and removes the containers of a dead server, once they are old': async ({
      provider,
    }) => {
      const { engine, socket } = there()
      const [id, other] = [await leftBehind(engine), await leftBehind(engine)]
      await provider.check()
      const path = `/containers/${id}/json`
      await engine.call('GET', path)
      const now = () => Date.now() + 3_600_000
      const later = dockerSandboxes({ name: 'docker', socket, image: testImage, now })
      assert.ok((await later.check()).ok)
      for (const each of [id, other])
        await assert.rejects(engine.call('GET', `/containers/${each}/json`), { status: 404 })
    },

    'says what the engine said, and ends later what it has kept while it could not be asked':
      async ({ folder, spec }) => {
        await using away = await standIn(join(folder, 'engine.sock'), there().socket)
        const { socket } = away
        const mine = dockerSandboxes({ name: 'docker', socket, image: testImage, againMs: 50 })
        const [first, sign] = [spec(), uniqueSleep()]
        const sandbox = await mine.acquire(first)
        await run(sandbox, `(setsid sleep ${sign} &) >/dev/null 2>&1`)
        await until('it has begun', () => processesWith(sign).length === 1)
        await away.cut()
        await sandbox.ended
        // A process that becomes another program has no arguments for a moment.
        await until('it still runs', () => processesWith(sign).length === 1)
        const unanswered = refused(/engine.sock: /)
        await assert.rejects(mine.reap(first), unanswered)
        await assert.rejects(mine.acquire(spec()), unanswered)
        await assert.rejects(mine.imageOf(undefined), unanswered)
        await away.mend()
        await until('nothing of it runs', () => processesWith(sign).length === 0)
        assert.equal((await mine.check()).ok, true)
      },

    'tries whether it can start where the working folders will be': async ({ folder }) => {
      const { socket } = there()
      const trial = join(folder, 'not', 'yet')
      const some = { name: 'docker', socket, image: testImage, folder: trial } as const
      assert.ok((await dockerSandboxes(some).check()).ok)
      assert.deepEqual(readdirSync(trial), [])
    },

    'starts from the image of its spec': async ({ open }) => {
      const sandbox = await open({ image: `docker.io/library/${testImage}:latest` })
      assert.equal(await say(sandbox, 'echo $OF_THE_IMAGE'), 'yes')
    },

    'fetches an image once, says so, and refuses one that has no bash': async ({
      provider,
      spec,
    }) => {
      const { images, reported, engine } = there()
      const reference = `${images.address}/bare`
      const starts = [spec({ image: reference }), spec({ image: reference })]
      const outcomes = await Promise.allSettled(starts.map((each) => provider.acquire(each)))
      for (const outcome of outcomes) {
        assert.ok(outcome.status === 'rejected')
        assert.match(String(outcome.reason), /SandboxEnded.*has no \/bin\/bash/)
      }
      assert.deepEqual(
        reported.filter((line) => line.startsWith('fetching')),
        [`fetching the image ${reference}:latest`],
      )
      assert.ok(images.asked.some((path) => path.startsWith('/v2/bare/blobs/')))
      for (const { id } of starts) {
        const filters = encodeURIComponent(JSON.stringify({ label: [`${ownerLabel}=${id}`] }))
        const left = await engine.call('GET', `/containers/json?all=true&filters=${filters}`)
        assert.deepEqual(left, [], 'no container stays')
      }
    },

    'distinguishes images that had the same name': async ({ provider }) => {
      const { engine, images } = there()
      const before = await provider.imageOf(undefined)
      assert.equal(await provider.imageOf(`docker.io/library/${testImage}:latest`), before)
      const other = `${images.address}/bare:latest`
      const another = await provider.imageOf(other)
      assert.notEqual(another, before)
      await engine.call('DELETE', `/images/${other}?force=true`)
      await engine.call(
        'POST',
        `/images/${testImage}:latest/tag?repo=${images.address}/bare&tag=latest`,
      )
      assert.equal(await provider.imageOf(other), before)
      await engine.call('DELETE', `/images/${other}?force=true`)
    },

    'says which image cannot be fetched, and why': async ({ provider, spec }) => {
      const { images } = there()
      const missing = spec({ image: `${images.address}/missing:1` })
      await assert.rejects(
        provider.acquire(missing),
        refused(/missing:1 cannot be fetched: .*(unknown|not found)/),
      )
      const away = spec({ image: '127.0.0.1:9/no/one:1' })
      await assert.rejects(
        provider.acquire(away),
        refused(/127.0.0.1:9\/no\/one:1 cannot be fetched: /),
      )
    },

    'refuses an image for another machine, and a text that is no reference': async ({
      provider,
      spec,
    }) => {
      const { images } = there()
      const foreign = spec({ image: `${images.address}/foreign` })
      await assert.rejects(
        provider.acquire(foreign),
        refused(/is for (arm64|amd64), and this machine/),
      )
      for (const image of [
        '',
        '../../containers',
        'a b',
        'a/../b',
        'UPPER',
        'a:b:c',
        'a?b',
        'a@sha256:1',
      ]) {
        assert.match(provider.refuseImage(image) ?? '', /not the reference/, image)
        await assert.rejects(provider.acquire(spec({ image })), refused(/not the reference/), image)
      }
      for (const image of [
        'debian',
        'debian:13',
        'ghcr.io/a/b_c:v1.2',
        'localhost:5000/x',
        `a@sha256:${'0'.repeat(64)}`,
      ])
        assert.equal(provider.refuseImage(image), undefined, image)
    },
  }
}
