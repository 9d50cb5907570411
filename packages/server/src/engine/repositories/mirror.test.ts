import assert from 'node:assert/strict'
import { readdirSync, utimesSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { guardedConnector, tenantGuard } from '../../ground/core/security/dial.ts'
import { jsonLog } from '@steward/base/log.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import { systemClock } from '@steward/base/time.ts'
import type { UpstreamListener } from '../egress/fixture.ts'
import { connectTo } from '../egress/fixture.ts'
import { createUpstream } from '../egress/inject/upstream.ts'
import type { RepositoryFailure } from './failure.ts'
import type { GitServer } from './git-fixture.ts'
import { gitServer } from './git-fixture.ts'
import type { MirrorDeps } from './mirror.ts'
import { createMirrors } from './mirror.ts'
import { flushPacket, encodePacket } from './packets.ts'
import { createRemote } from './remote.ts'

const mebibyte = 1024 * 1024
const limits = {
  memory: 512 * mebibyte,
  processes: 64,
  cpus: 1,
  scratch: 16 * mebibyte,
  file: 1 << 30,
}
const token = 'canary-token-of-a-mirror'
const never = new AbortController().signal

describe('mirrors of repositories', () => {
  let git: GitServer
  let folder: string
  let count = 0
  let now = 0
  before(async () => {
    git = await gitServer()
  })
  after(() => git[Symbol.asyncDispose]())
  beforeEach(async (test) => {
    folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    git.setAnswer(undefined)
    git.asked.length = 0
    now = Date.now()
    if ('after' in test) test.after(() => rm(folder, { recursive: true, force: true }))
  })

  const opened = ({
    most = mebibyte,
    connect,
    ...own
  }: { most?: number } & Partial<MirrorDeps> = {}) =>
    createMirrors({
      ...{ folder: join(folder, 'mirrors'), key: Buffer.alloc(32, 1) },
      connect: connect ?? (() => createRemote(createUpstream(connectTo(git.server)), most)),
      indexing: { provider: bubblewrapSandboxes(), limits, isHost: false },
      share: createShare({ total: 8, percent: 80 }),
      clock: { ...systemClock, now: () => now },
      log: jsonLog(() => {}),
      ...own,
    })
  type TestMirrors = ReturnType<typeof opened>
  const url = (path: string) => `https://api.example${path}`
  const fetchInto = (
    held: TestMirrors,
    path: string,
    own: string | null = token,
    tenant = 'wrkspc_1',
  ) =>
    held.fetchInto(
      tenant,
      { url: url(path), token: own ?? undefined },
      { to: join(folder, `fetched-${count++}`), more: [], signal: never },
    )
  const packsOf = async (n = count - 1) =>
    (await readdir(join(folder, `fetched-${n}`))).filter((name) => name.endsWith('.pack')).length
  const posts = () => git.asked.filter(({ method }) => method === 'POST').length
  const fails = (work: Promise<unknown>, type: string, words: RegExp) =>
    assert.rejects(work, (error: RepositoryFailure) => {
      assert.equal(error.type, `repository_${type}_error`, error.message)
      assert.match(error.message, words)
      assert.doesNotMatch(error.message, /canary/)
      return true
    })

  it('fetch what is new, once for all who ask at the same time', async () => {
    await git.create('/m/one', { a: 'a' }, token)
    const held = opened()
    await Promise.all([1, 2, 3].map(() => fetchInto(held, '/m/one')))
    assert.deepEqual([posts(), await packsOf()], [1, 1])
    await git.commit('/m/one', 'main', { b: 'b' })
    await fetchInto(held, '/m/one')
    assert.deepEqual([posts(), await packsOf()], [2, 2])
    await fetchInto(opened(), '/m/one')
    assert.deepEqual([posts(), await packsOf()], [2, 2])
  })

  it('are shared by no two tenants and by no two tokens, and used by none whom the server refuses', async () => {
    await git.create('/m/two', { a: 'a' }, token)
    const held = opened()
    await fetchInto(held, '/m/two')
    await fetchInto(held, '/m/two', token, 'wrkspc_2')
    assert.equal(posts(), 2)
    git.setToken('/m/two', `${token}-2`)
    await fails(fetchInto(held, '/m/two'), 'authentication', /does not take/)
    await fails(fetchInto(held, '/m/two', null), 'authentication', /wants an authorization_token/)
    await fetchInto(held, '/m/two', `${token}-2`)
    assert.equal(posts(), 3)
  })

  it('follow a server to the same name with .git, and take a token nowhere else', async () => {
    await git.create('/m/three.git', { a: 'a' }, token)
    const moved =
      (to: string): UpstreamListener =>
      (_, response) =>
        void response.writeHead(301, { location: to }).end()
    git.setAnswer((request, response) => {
      if (request.url?.startsWith('/m/three/')) {
        git.setAnswer(undefined)
        return moved('/m/three.git/info/refs?service=git-upload-pack')(request, response)
      }
      return undefined
    })
    const looked = await fetchInto(opened(), '/m/three')
    assert.equal(looked.address.url, url('/m/three.git'))
    for (const to of ['https://other.example/m/three.git/info/refs', url('/m/four/info/refs')]) {
      git.asked.length = 0
      git.setAnswer(moved(to))
      await fails(fetchInto(opened(), '/m/three'), 'clone', /redirects to https/)
      assert.equal(git.asked.length, 1)
    }
  })

  it('take no more than they may', async () => {
    await git.create('/m/large', { a: 'x'.repeat(10) }, token)
    await fails(fetchInto(opened({ most: 100 }), '/m/large'), 'clone', /larger than the 100 bytes/)
    assert.deepEqual(await kept(join(folder, 'mirrors')), [])
  })

  it('dial no private address', async () => {
    const guard = tenantGuard([])
    const connect = () =>
      createRemote(createUpstream(guardedConnector(guard, { allowH2: false })), mebibyte)
    const held = opened({ connect })
    const address = { url: `https://localhost:${git.server.port}/m/one`, token }
    const to = join(folder, 'private')
    const asked = held.fetchInto('wrkspc_1', address, { to, more: [], signal: never })
    await fails(asked, 'clone', /private or reserved/)
    assert.equal(git.asked.length, 0)
  })

  it('keep nothing of a server that lies', async () => {
    const tip = 'ab'.repeat(20)
    const refs = (response: Parameters<UpstreamListener>[1]) => {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
      const head = `${tip} refs/heads/main\0side-band-64k ofs-delta`
      response.end(
        encodePacket('# service=git-upload-pack\n') +
          flushPacket +
          encodePacket(`${head}\n`) +
          flushPacket,
      )
    }
    const sending =
      (answer: string | Buffer): UpstreamListener =>
      (request, response) => {
        if (request.method === 'GET') return refs(response)
        response.setHeader('content-type', 'application/x-git-upload-pack-result')
        response.end(answer)
      }
    const band = (n: number, bytes: Buffer) => {
      const length = (bytes.length + 5).toString(16).padStart(4, '0')
      return Buffer.concat([Buffer.from(length), Buffer.from([n]), bytes])
    }
    const cases: [UpstreamListener, RegExp][] = [
      [(_, response) => void response.end('<html>'), /smart git protocol/],
      [(_, response) => void response.writeHead(500).end(), /status 500/],
      [sending(encodePacket('ERR out of order\n')), /out of order/],
      [sending(encodePacket(`ERR ${'long '.repeat(5000)}`)), /^.{20,400}$/],
      [sending(band(3, Buffer.from(`no: ${token}`))), /broke off: no: \*+$/],
      [sending('0008NAK\n' + 'zzzz'), /broke off/],
      [
        sending(band(1, Buffer.from('PACK and then something else, of no known kind'))),
        /not sound/,
      ],
    ]
    for (const [answer, words] of cases) {
      git.setAnswer(answer)
      await fails(fetchInto(opened(), '/m/liar'), 'clone', words)
    }
    assert.deepEqual(await kept(join(folder, 'mirrors')), [])
  })

  it('refuse objects that git would refuse', async () => {
    await git.create('/m/bad', { a: 'a' }, token)
    const blob = await git.git('/m/bad', 'rev-parse', 'main:a')
    const bytes = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')])
    await writeFile(join(folder, 'tree'), bytes)
    const path = join(folder, 'tree')
    const tree = await git.git('/m/bad', 'hash-object', '-w', '--literally', '-t', 'tree', path)
    const commit = await git.git('/m/bad', 'commit-tree', tree, '-m', 'bad')
    await git.git('/m/bad', 'update-ref', 'refs/heads/bad', commit)
    await fails(fetchInto(opened(), '/m/bad'), 'clone', /not sound.*(hasDotgit|fsck)/)
  })

  it('are removed when they were unused for a week', async () => {
    await git.create('/m/old', { a: 'a' }, token)
    const held = opened()
    await fetchInto(held, '/m/old')
    now += 6 * 24 * 60 * 60_000
    await held.removeUnused()
    assert.equal((await readdir(join(folder, 'mirrors', 'wrkspc_1'))).length, 1)
    now += 2 * 24 * 60 * 60_000
    await held.removeUnused()
    assert.deepEqual(await readdir(join(folder, 'mirrors', 'wrkspc_1')), [])
    assert.equal(await packsOf(), 1)
  })

  it('keep nothing of a fetch whose process was killed, and all of one that may run elsewhere', async () => {
    await git.create('/m/left', { a: 'a' }, token)
    const held = opened()
    await fetchInto(held, '/m/left')
    const above = join(folder, 'mirrors', 'wrkspc_1')
    const [name = ''] = await readdir(above)
    for (const [left, hours] of [
      ['fetch-killed', 2],
      ['fetch-running', 0],
    ] as const) {
      await mkdir(join(above, name, left))
      await writeFile(join(above, name, left, 'incoming.pack'), 'half')
      const at = now / 1000 - hours * 3_600
      await utimes(join(above, name, left), at, at)
    }
    await fetchInto(held, '/m/left')
    const there = (await readdir(join(above, name))).filter((each) => each.startsWith('fetch-'))
    assert.deepEqual(there, ['fetch-running'])
  })

  it('are no more than fifty of a tenant, and each new token of a repository makes another', async () => {
    const above = join(folder, 'mirrors', 'wrkspc_1')
    const hour = 60 * 60_000
    for (let n = 0; n < 53; n++) {
      await mkdir(join(above, String(n)), { recursive: true })
      await utimes(join(above, String(n)), now / 1000, (now - (n < 52 ? 0 : 2) * hour) / 1000)
    }
    const left = async () => (await readdir(above)).length
    await opened().removeUnused()
    assert.equal(await left(), 52, 'others are in use')
    now += 2 * hour
    await opened().removeUnused()
    assert.equal(await left(), 50)
  })

  it('of one tenant keep none of another waiting', async () => {
    const gate = Promise.withResolvers<void>()
    const fetching: string[] = []
    const held = opened({
      share: createShare({ total: 3, percent: 80 }),
      connect() {
        const own = createRemote(createUpstream(connectTo(git.server)), mebibyte)
        let path = ''
        return {
          ...own,
          async look(address, signal) {
            path = new URL(address.url).pathname
            return own.look(address, signal)
          },
          async fetch(...asked) {
            fetching.push(path)
            if (path.startsWith('/slow')) await gate.promise
            return own.fetch(...asked)
          },
        }
      },
    })
    for (const path of ['/slow/1', '/slow/2', '/slow/3', '/quick/1'])
      await git.create(path, { a: 'a' }, token)
    const slow = ['/slow/1', '/slow/2', '/slow/3'].map((path) => fetchInto(held, path))
    while (fetching.length < 2) await setImmediate()
    await fetchInto(held, '/quick/1', token, 'wrkspc_2')
    assert.equal(fetching.length, 3)
    assert.equal(fetching[2], '/quick/1')
    gate.resolve()
    await Promise.all(slow)
    assert.equal(fetching.length, 4)
  })

  it('give up their turn in the line when the last waiting call is aborted', async () => {
    await git.create('/m/left', { a: 'a' }, token)
    const share = createShare({ total: 1, percent: 80 })
    const giveBack = share.take('wrkspc_2')
    const held = opened({ share })
    const gone = new AbortController()
    const address = { url: url('/m/left'), token }
    const to = join(folder, `fetched-${count++}`)
    const waiting = held.fetchInto('wrkspc_1', address, { to, more: [], signal: gone.signal })
    gone.abort(new Error('the session has ended'))
    await assert.rejects(waiting, /the session has ended/)
    giveBack?.()
    await fetchInto(held, '/m/left')
    assert.equal(await packsOf(), 1)
    assert.equal(share.room('wrkspc_1'), 1)
  })

  describe('beside another process', () => {
    const path = () => {
      const above = join(folder, 'mirrors', 'wrkspc_1')
      return join(above, readdirSync(above)[0] ?? '')
    }

    it('are not removed when that process has just begun to use them', async () => {
      await git.create('/m/touched', { a: 'a' }, token)
      await fetchInto(opened(), '/m/touched')
      now += 8 * 24 * 60 * 60_000
      const touched = () => {
        utimesSync(path(), now / 1000, now / 1000)
        return now
      }
      await opened({ clock: { ...systemClock, now: touched } }).removeUnused()
      await fetchInto(opened(), '/m/touched')
      assert.deepEqual([posts(), await packsOf()], [1, 1])
    })

    it('are fetched again when that process has just removed them', async () => {
      await git.create('/m/gone', { a: 'a' }, token)
      let fetched = 0
      const held = opened({
        connect: () => {
          const own = createRemote(createUpstream(connectTo(git.server)), mebibyte)
          const fetch: typeof own.fetch = async (...asked) => {
            if (++fetched === 1) await rm(path(), { recursive: true })
            return own.fetch(...asked)
          }
          return { ...own, fetch }
        },
      })
      await fetchInto(held, '/m/gone')
      assert.deepEqual([fetched, await packsOf()], [2, 1])
    })
  })
})

/** Names of the files that all mirrors hold. */
async function kept(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}
