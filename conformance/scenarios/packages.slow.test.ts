/** Packages of environments, from registries of this machine. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Registry } from '@steward/server/engine/installs/registry-fixture.ts'
import { startRegistries } from '@steward/server/engine/installs/registry-fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newestOpenAI, typesOf } from '../openai.ts'
import { all, fresh, logOf, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
const bash = (command: string) => `call bash ${JSON.stringify({ command })}`
const type = 'session.environment_build'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`packages on ${database}`, () => {
    let service: TestService
    let registries: Registry
    before(async () => {
      registries = await startRegistries()
      const { sources, registry: outside } = registries
      const list = Object.entries(sources).map((pair) => pair.join('='))
      const env = { PACKAGE_REGISTRIES: list.join(',') }
      service = await boot(database, { env, overrides: { nameOverride: outside } })
    })
    after(async () => {
      await service.close()
      await registries[Symbol.asyncDispose]()
    })

    const create = (packages: object, more: object = {}) =>
      service.ask('POST', '/v1/environments', { name: fresh('env'), packages, ...more })
    const session = async (packages: object, more: object = {}): Promise<string> => {
      const { body } = await create(packages, more)
      return newSession(service, { tools }, { environment_id: body.id })
    }
    const run = async (id: string, command: string): Promise<string> =>
      textOf(only(await turn(service, id, bash(command)), 'agent.tool_result'))

    verifies(
      [
        'environments/field/packages',
        'environments/packages/installed',
        'environments/packages/confined',
        'environments/packages/once',
        'events/ext/environment-build',
      ],
      'packages are there at the first command of a session, and of the next without being fetched again',
      async () => {
        const packages = { npm: ['tiny-npm@1.0.0', 'curious-npm'], pip: ['tiny-pip'] }
        const limits = {
          env: { TOKEN: 'canary-of-the-environment' },
          network: { allowlist: ['nothing.example'] },
        }
        const first = await session(packages, limits)
        const look =
          'tiny-npm; tiny-pip; cat $NODE_PATH/curious-npm/code.txt; echo; grep -c canary $NODE_PATH/tiny-npm/seen.txt; echo x >>$NODE_PATH/tiny-npm/run.js'
        const said = await run(first, look)
        assert.match(
          said,
          /^tiny of npm\ntiny of pip\n403\n0\nbash: .*(Permission denied|Read-only file system)/,
        )
        const told = all(await logOf(service, first), type).map(({ state, manager }) => [
          ...[manager, state],
        ])
        assert.deepEqual(
          told.filter(([, state]) => state === 'done'),
          [
            ['npm', 'done'],
            ['pip', 'done'],
          ],
        )
        registries.asked.length = 0
        const second = await session({ pip: ['tiny-pip'], npm: packages.npm.toReversed() }, limits)
        assert.match(await run(second, 'tiny-npm'), /tiny of npm/)
        assert.deepEqual(all(await logOf(service, second), type), [])
        assert.deepEqual(registries.asked, [])
      },
    )

    verifies(
      'environments/packages/failed',
      'a package that does not exist ends the turn with what its manager said, and the next turn tries again',
      async () => {
        const id = await session({ npm: ['tiny-npm'], pip: ['no-such-thing'] })
        const seen = await turn(service, id, bash('echo ran'))
        const failure = only(seen, 'session.error')['error'] as { type: string; message: string }
        assert.match(failure.message, /packages of pip could not be installed[^]*no-such-thing/)
        assert.deepEqual(only(seen, 'session.status_idle')['stop_reason'], {
          type: 'retries_exhausted',
        })
        assert.doesNotMatch(JSON.stringify(seen), /"ran/)
        const last = all(await logOf(service, id), type).at(-1)
        assert.deepEqual([last?.['state'], last?.['manager']], ['failed', 'pip'])
        assert.match(JSON.stringify(last?.['lines']), /No matching distribution/)
        registries.asked.length = 0
        only(await turn(service, id, bash('echo ran')), 'session.error')
        assert.ok(registries.asked.includes('/simple/no-such-thing/'))
      },
    )

    verifies(
      'environments/packages/names',
      'a text that is no name of a package is refused by its position in the list',
      async () => {
        const wrong: Record<string, string[]> = {
          apt: ['-o=x', 'jq;id', '../x.deb', 'jq/sid', 'jq-', 'J Q', 'http://x/y.deb'],
          cargo: ['--git', 'a b', 'x@https://y', './x'],
          gem: ['--source', 'x;y', '../x.gem', 'x:`id`'],
          go: ['-x', 'tool', 'a.example/../b', 'https://a.example/b', 'a.example/b@$(id)', './...'],
          npm: ['-g', 'user/repo', 'x@file:/etc', 'git+https://x/y', 'x@npm:y', './x', '@a/b/c'],
          pip: ['--index-url=x', '-r', 'x @ https://y', './x', 'x;id', 'x==1 y', 'git+https://x'],
        }
        for (const [manager, names] of Object.entries(wrong)) {
          for (const name of names) {
            const { status, body } = await create({ [manager]: ['fine', name] })
            assert.equal(status, 400, `${manager} ${name}`)
            assert.match(JSON.stringify(body), new RegExp(`packages\\.${manager}\\.`))
          }
        }
        const right = {
          apt: ['jq', 'g++', 'libc6:amd64', 'jq=1.6-2.1+deb12u1'],
          cargo: ['ripgrep', 'ripgrep@14.1.0', 'x@^1'],
          gem: ['rake:13.2.1', 'net-http'],
          go: ['example.com/cmd/tool@v1.2.3', 'example.com/x'],
          npm: ['@scope/name@^1.2.3', 'JSONStream', 'x@latest', 'x@>=1'],
          pip: ['rich[jupyter]>=13,<15', 'ruamel.yaml', 'x==1.0.post1', 'x~=2.1'],
        }
        const { status, body } = await create(right)
        assert.equal(status, 200, JSON.stringify(body))
        assert.deepEqual(body['packages'], right)
      },
    )

    verifies(
      'openai/events/environments',
      'a stream of the OpenAI surface says that packages are installed, and that this has failed',
      async () => {
        const { agents } = newestOpenAI(service).beta
        const states = async (packages: object) => {
          const stream = await agents.sessions.create({
            ...{ agent: { model: 'offline' }, input: 'run: true', stream: true },
            environment: { type: 'openai_hosted', packages },
          })
          const events = await Array.fromAsync(stream)
          const told = events.filter(({ type: of }) => of.startsWith('agent.session.environment.'))
          return { told, types: typesOf(told) }
        }
        const both = { npm: ['tiny-npm'], python: ['tiny-pip'] }
        assert.deepEqual((await states(both)).types, [
          ...['environment.ready', 'environment.pending', 'environment.ready'],
        ])
        const { told, types } = await states({ npm: ['no-such-package-here'] })
        assert.deepEqual(types.slice(0, 3), [
          ...['environment.ready', 'environment.pending', 'environment.failed'],
        ])
        const failed = told[2]
        assert.ok(failed && 'environment' in failed)
        assert.equal(failed.environment.status, 'failed')
        assert.match(failed.environment.error?.message ?? '', /could not be installed/)
      },
    )
  })
}

verifies(
  'sessions/not-yet/packages',
  'sandboxes that isolate nothing get no packages',
  async () => {
    const env = { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' }
    const service = await boot('sqlite', { env })
    try {
      const { body } = await service.ask('POST', '/v1/environments', {
        name: fresh('env'),
        packages: { npm: ['tiny-npm'] },
      })
      const refused = newSession(service, {}, { environment_id: body.id })
      await assert.rejects(refused, /environment\.packages\.npm: .*local/)
    } finally {
      await service.close()
    }
  },
)
