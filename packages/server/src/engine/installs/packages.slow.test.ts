import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { foldPackages, emptyEnvironment } from '@steward/protocol/environments.ts'
import type { PackageLists } from '@steward/protocol/packages.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { dialsFor } from '../../ground/core/security/dial.ts'
import { jsonLog } from '@steward/base/log.ts'
import type { RowLease } from '../../ground/database/row-lease.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import { systemClock } from '@steward/base/time.ts'
import type { BuildLayer } from './build.ts'
import { createLayerBuilder } from './build.ts'
import { createLayerIdentifier } from './identity.ts'
import { createLayers } from './layers.ts'
import { installVariables, packagesPrefix } from './managers.ts'
import type { Registry } from './registry-fixture.ts'
import { startRegistries } from './registry-fixture.ts'
import type { BuildNews } from './step.ts'
import { BuildFailure } from './step.ts'

const provider = bubblewrapSandboxes()
const limits = { memory: 2 ** 31, processes: 256, cpus: 2, scratch: 64 << 20, file: 1 << 30 }
const wanted = (lists: Partial<PackageLists>) => ({
  packages: foldPackages(emptyEnvironment.packages, lists),
  image: undefined,
})
const tenant = 'wrkspc_first'

describe('packages of an environment', () => {
  let registries: Registry
  let folder: string
  let now: number
  let held: Set<string>
  let share: Share
  before(async () => {
    registries = await startRegistries()
  })
  after(() => registries[Symbol.asyncDispose]())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-packages-'))
    registries.hold = async () => {}
    registries.asked.length = 0
    now = Date.now()
    held = new Set()
    share = createShare({ total: 5, percent: 80 })
  })

  const clock = { ...systemClock, now: () => now }
  const leaseOf = async (_tenant: string, layer: string): Promise<RowLease> => ({
    async claim() {
      if (held.has(layer)) return false
      held.add(layer)
      return true
    },
    prolong: async () => true,
    release: async () => void held.delete(layer),
  })
  const defaults = { largest: 2 ** 30, timeoutMs: 120_000 }
  function room(changes: Partial<typeof defaults> & { build?: BuildLayer } = {}) {
    const { sources, registry: outside } = registries
    const build = createLayerBuilder({
      provider,
      limits,
      registry: outside,
      sources,
      clock,
      ...defaults,
      ...changes,
    })
    return createLayers({
      ...{ folder, build, leaseOf, keptMs: 1000, clock, log: jsonLog(() => {}), ...changes },
      share,
      identify: createLayerIdentifier(provider, sources, ''),
    })
  }
  const left = async () => (await readdir(join(folder, '.building')).catch(() => [])).length

  /** The output of a session's command with these packages. */
  async function sessionSays(path: string, lists: Partial<PackageLists>, command: string) {
    const managers = Object.keys(lists) as (keyof PackageLists)[]
    const folder = await mkdtemp(join(tmpdir(), 'steward-session-'))
    const sandbox = await provider.acquire({
      ...{
        id: 'sesn_1',
        workspace: folder,
        outputs: folder,
        isPrefilled: false,
        egress: null,
        limits,
      },
      mounts: [{ source: join(path, 'prefix'), path: packagesPrefix, access: 'read' }],
      ...installVariables(managers),
    })
    try {
      return (await sandbox.shell({ command, timeoutMs: 20_000 })).output.trim()
    } finally {
      await sandbox.close()
      await rm(folder, { recursive: true })
    }
  }

  it('are installed by each manager from its registry alone, and found by commands', async () => {
    const lists = {
      ...{ cargo: ['tiny-crate'], gem: ['tiny-gem:1.0.0'], go: ['tiny.test/tiny-go@v1.0.0'] },
      ...{ npm: ['tiny-npm@1.0.0'], pip: ['tiny-pip==1.0'] },
    }
    const news: BuildNews[] = []
    const { path } = await room().take(tenant, wanted(lists), (each) => news.push(each))
    const command = `tiny-crate; tiny-gem; tiny-go 2>&1; tiny-npm; tiny-pip
python3 -c 'import tiny_pip; tiny_pip.main()'; node -p 'typeof require.resolve("tiny-npm/package.json")'
touch ${packagesPrefix}/x 2>&1; cat ${packagesPrefix}/npm/lib/node_modules/tiny-npm/seen.txt`
    const said = (await sessionSays(path, lists, command)).split('\n')
    const [seen, expected] = [said.splice(8), 8]
    assert.deepEqual(said, [
      ...['tiny of cargo', 'tiny of gem', 'tiny of go', 'tiny of npm', 'tiny of pip'],
      ...[
        'tiny of pip',
        'string',
        `touch: cannot touch '${packagesPrefix}/x': Read-only file system`,
      ],
    ])
    assert.ok(seen.length > expected && !/PLATFORM_|API_KEY|DATA_DIR/.test(seen.join('\n')))
    const done = news.filter(({ state }) => state === 'done').map(({ manager }) => manager)
    assert.deepEqual(done, ['cargo', 'gem', 'go', 'npm', 'pip'])
    assert.equal(await left(), 0)
  })

  it('reach no other host while they are installed', async () => {
    const lists = { npm: ['curious-npm'] }
    const { path } = await room().take(tenant, wanted(lists), () => {})
    const said = await sessionSays(path, lists, 'cat $NODE_PATH/curious-npm/code.txt')
    assert.equal(said, '403')
    assert.ok(!registries.asked.includes('/secret'))
  })

  it('that cannot be installed are named with the words of their manager, and nothing of them is kept', async () => {
    const both = wanted({ npm: ['tiny-npm'], pip: ['no-such-thing'] })
    await assert.rejects(
      room().take(tenant, both, () => {}),
      (error) => {
        assert.ok(error instanceof BuildFailure)
        assert.equal(error.manager, 'pip')
        assert.match(error.lines.join('\n'), /No matching distribution found for no-such-thing/)
        return true
      },
    )
    assert.deepEqual([await left(), await readdir(folder)], [0, ['.building']])
  })

  it('are built once for all who ask at the same time, each of whom hears of it', async () => {
    const gate = Promise.withResolvers<void>()
    registries.hold = () => gate.promise
    const mine = room()
    const news: BuildNews[][] = [[], []]
    const all = news.map((own) =>
      mine.take(tenant, wanted({ npm: ['tiny-npm'] }), (each) => own.push(each)),
    )
    gate.resolve()
    const [one, two] = await Promise.all(all)
    assert.equal(one?.path, two?.path)
    for (const own of news) assert.equal(own.at(-1)?.state, 'done')
    const before = registries.asked.length
    await mine.take(tenant, wanted({ npm: ['tiny-npm'] }), () => assert.fail('nothing is built'))
    assert.equal(registries.asked.length, before)
    const theirs = await mine.take('wrkspc_other', wanted({ npm: ['tiny-npm'] }), () => {})
    assert.notEqual(theirs.path, one?.path)
    assert.ok(registries.asked.length > before)
  })

  it('wait for another process that builds the same, and take what it has built', async () => {
    const list = wanted({ npm: ['tiny-npm'] })
    const identify = createLayerIdentifier(provider, registries.sources, '')
    const layer = await identify(list)
    held.add(layer)
    const news: BuildNews[] = []
    const waiting = room({ build: () => assert.fail('nothing is built here') }).take(
      tenant,
      list,
      (each) => {
        news.push(each)
        // The other process's build is done.
        void room()
          .take(tenant, list, () => {})
          .catch(() => {})
        held.delete(layer)
      },
    )
    const { path } = await waiting
    assert.equal(path, join(folder, tenant, layer))
    assert.deepEqual(news, [{ state: 'waiting', manager: null, lines: [] }])
  })

  it('may not be larger than is allowed, nor take longer, and nothing of them is kept then', async () => {
    const small = room({ largest: 1024 })
    const list = wanted({ npm: ['tiny-npm'] })
    await assert.rejects(
      small.take(tenant, list, () => {}),
      /larger than 0 MB/,
    )
    registries.hold = () => new Promise(() => {})
    await assert.rejects(
      room({ timeoutMs: 1500 }).take(tenant, list, () => {}),
      /too long/,
    )
    assert.deepEqual([await left(), await readdir(folder)], [0, ['.building']])
    registries.hold = async () => {}
    assert.ok(await room().take(tenant, list, () => {}))
  })

  it('may be no larger beside the layer either, wherever a script of theirs can write', async () => {
    const list = wanted({ npm: ['filling-npm'] })
    await assert.rejects(
      room({ largest: 6_000_000 }).take(tenant, list, () => {}),
      /larger than 5 MB/,
    )
    assert.equal(await left(), 0)
  })

  it('have their time together, and not for each manager', async () => {
    registries.hold = async (path) => {
      if (path.endsWith('.tgz')) now += defaults.timeoutMs
    }
    await assert.rejects(
      room().take(tenant, wanted({ npm: ['tiny-npm'], pip: ['tiny-pip'] }), () => {}),
      (error) =>
        error instanceof BuildFailure && error.manager === 'pip' && /too long/.test(error.message),
    )
  })

  it('name a registry that cannot be reached, in words', async () => {
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    type Refuse = (error: Error, socket: null) => void
    const none: Registry['registry'] = {
      connect: dialsFor('operator', (_options: unknown, callback: Refuse) => callback(away, null)),
      dial: dialsFor('operator', () => Promise.reject(away)),
    }
    const { sources } = registries
    const build = createLayerBuilder({
      provider,
      limits,
      registry: none,
      sources,
      clock,
      ...defaults,
    })
    await assert.rejects(
      room({ build }).take(tenant, wanted({ npm: ['tiny-npm'] }), () => {}),
      (error) => {
        const lines = error instanceof BuildFailure ? error.lines.join('\n') : String(error)
        assert.match(lines, /registry\.test:80 could not be asked: it refused the connection/)
        assert.doesNotMatch(lines, /object Object/)
        return true
      },
    )
  })

  it('end with the server, half built', async () => {
    const begun = Promise.withResolvers<void>()
    registries.hold = () => {
      begun.resolve()
      return new Promise(() => {})
    }
    const mine = room()
    const taking = mine.take(tenant, wanted({ npm: ['tiny-npm'] }), () => {})
    const failed = assert.rejects(taking, /shutting down/)
    await begun.promise
    await mine.close()
    await failed
    assert.equal(await left(), 0)
  })

  it('are kept while a sandbox has them and for some time after, and no longer', async () => {
    const mine = room()
    const taken = await mine.take(tenant, wanted({ npm: ['tiny-npm'] }), () => {})
    now += 10_000
    await mine.removeUnused()
    assert.ok(await stat(taken.path))
    taken.release()
    now += 500
    await mine.removeUnused()
    assert.ok(await stat(taken.path))
    now += 10_000
    await mine.removeUnused()
    await assert.rejects(stat(taken.path), /ENOENT/)
    assert.equal(await left(), 0)
  })

  it('give way to others when a tenant has many, unless they are in use', async () => {
    const names = Array.from({ length: 50 }, (_, n) => join(folder, tenant, `layer-${n}`))
    for (const [n, name] of names.entries()) {
      await mkdir(name, { recursive: true })
      await utimes(name, now / 1000, now / 1000 - n)
    }
    const list = wanted({ npm: ['tiny-npm'] })
    const mine = room({
      async build(_wanted, sandbox) {
        await mkdir(join(sandbox.folder, 'layer'))
      },
    })
    await assert.rejects(
      mine.take(tenant, list, () => {}),
      /50 different sets/,
    )
    now += 3 * 60 * 60_000
    await mine.take(tenant, list, () => {})
    await assert.rejects(stat(names.at(-1) ?? ''), /ENOENT/)
    assert.ok(await stat(names[0] ?? ''))
  })

  it('are no more than a tenant may have, however many are asked for at once', async () => {
    for (let n = 0; n < 48; n++)
      await mkdir(join(folder, tenant, `layer-${n}`), { recursive: true })
    const mine = room({
      async build(_wanted, sandbox) {
        await mkdir(join(sandbox.folder, 'layer'))
      },
    })
    const take = (n: number) => mine.take(tenant, wanted({ npm: [`package-${n}`] }), () => {})
    const all = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => take(n)))
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 2)
    assert.equal((await readdir(join(folder, tenant))).length, 50)
    now += 3 * 60 * 60_000
    await Promise.all([10, 11, 12].map(take))
    assert.equal((await readdir(join(folder, tenant))).length, 50)
  })

  it('of one tenant keep none of another waiting', async () => {
    const built: string[] = []
    const gate = Promise.withResolvers<void>()
    const mine = room({
      async build({ packages }, sandbox) {
        built.push(...packages.npm)
        await mkdir(join(sandbox.folder, 'layer'))
        await gate.promise
      },
    })
    const waiting = new Set<string>()
    const take = (who: string, name: string) =>
      mine.take(who, wanted({ npm: [name] }), ({ state }) => {
        if (state === 'waiting') waiting.add(name)
      })
    const all = Array.from({ length: 8 }, (_, n) => take(tenant, `package-${n}`))
    while (waiting.size < 4) await setImmediate()
    all.push(take('wrkspc_other', 'theirs'))
    while (built.length < 5) await setImmediate()
    assert.equal(built.indexOf('theirs'), 4)
    assert.equal(waiting.size, 4)
    gate.resolve()
    await Promise.all(all)
  })

  it('of one tenant are built four at a time where five may be', async () => {
    let [most, under] = [0, 0]
    const full = Promise.withResolvers<void>()
    const mine = room({
      async build(_wanted, sandbox) {
        most = Math.max(most, ++under)
        await mkdir(join(sandbox.folder, 'layer'))
        if (under === 4) full.resolve()
        await full.promise
        under--
      },
    })
    const sets = Array.from({ length: 9 }, (_, n) => wanted({ npm: [`package-${n}`] }))
    await Promise.all(sets.map((each) => mine.take(tenant, each, () => {})))
    assert.equal(most, 4)
  })
})
