import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const type = 'github_repository'
const token = 'canary-token-of-a-repository'
const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
const bash = (command: string) => `call bash ${JSON.stringify({ command })}`

const outsideTo = ({ server }: GitServer) => ({
  connect: connectTo(server),
  dial: async () => connect({ port: server.port, host: '127.0.0.1' }),
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`clones of repositories on ${database}`, () => {
    let service: TestService
    let git: GitServer
    before(async () => {
      git = await gitServer()
      service = await boot(database, { overrides: { nameOverride: outsideTo(git) } })
    })
    after(async () => {
      await service.close()
      await git[Symbol.asyncDispose]()
    })
    const url = (path: string) => `https://api.example${path}`
    const create = (...resources: object[]) =>
      newSession(service, { tools }, { resources: resources.map((each) => ({ type, ...each })) })
    const run = async (session: string, command: string): Promise<string> =>
      textOf(only(await turn(service, session, bash(command)), 'agent.tool_result'))
    const rotate = async (session: string, authorization_token: string) => {
      const { resources } = service.client.beta.sessions
      const [found] = await Array.fromAsync(resources.list(session))
      assert.ok(found?.type === type)
      await resources.update(found.id, { session_id: session, authorization_token })
    }

    verifies(
      ['resources/repository/cloned'],
      'a session finds its repository in the working folder, on its default branch and as its own',
      async () => {
        await git.create('/one/public', { 'README.md': 'hello\n' })
        const session = await create({ url: url('/one/public') })
        const said = await run(
          session,
          'cd /workspace/public && cat README.md && git status -sb && git remote -v && git log --format=%s && stat -c %U .git/config README.md && test ! -e .git/objects/info/alternates',
        )
        assert.equal(
          said,
          [
            'hello',
            '## main...origin/main',
            `origin\t${url('/one/public')} (fetch)`,
            `origin\t${url('/one/public')} (push)`,
            'more',
            'user',
            'user',
            '',
          ].join('\n'),
        )
      },
    )

    verifies(
      ['resources/repository/cloned', 'resources/repository/checkout'],
      'a branch or a commit is checked out, and later sessions see what came since',
      async () => {
        const path = '/one/branches'
        await git.create(path, { a: 'first\n' }, token)
        const first = await git.git(path, 'rev-parse', 'main')
        await git.commit(path, 'next/one', { a: 'second\n' })
        const own = { url: url(path), authorization_token: token }
        const checkout = { type: 'branch', name: 'next/one' }
        const one = await create({ ...own, checkout })
        assert.equal(
          await run(one, 'cd /workspace/branches && cat a && git status -sb | head -1'),
          'second\n## next/one...origin/next/one\n',
        )
        await git.commit(path, 'main', { a: 'third\n' })
        git.asked.length = 0
        const two = await create(own)
        assert.equal(await run(two, 'cat /workspace/branches/a'), 'third\n')
        const mount_path = '/workspace/deep/down'
        const three = await create({ ...own, mount_path, checkout: { type: 'commit', sha: first } })
        const look = `cd ${mount_path} && cat a && git rev-parse HEAD && git branch --show-current`
        assert.equal(await run(three, look), `first\n${first}\n`)
        const posts = git.asked.filter(({ method }) => method === 'POST')
        assert.equal(posts.length, 1, 'for what is new')
        await run(await create(own), 'true')
        assert.equal(git.asked.filter(({ method }) => method === 'POST').length, 1)
      },
    )

    verifies(
      ['resources/repository/push', 'resources/rotate-token'],
      'git in the sandbox fetches and pushes with the newest token, which it never sees',
      async () => {
        const path = '/one/pushed'
        await git.create(path, { a: 'first\n' }, token)
        const session = await create({ url: url(path), authorization_token: token })
        const commit = (text: string) =>
          `cd /workspace/pushed && git config user.email a@example.com && git config user.name a && echo ${text} > a && git commit -qam ${text} && git push -q origin HEAD 2>&1; echo $?`
        assert.equal(await run(session, commit('second')), '0\n')
        assert.equal(await git.git(path, 'show', 'main:a'), 'second')
        const another = 'canary-token-that-came-later'
        git.setToken(path, another)
        assert.match(await run(session, commit('third')), /\n128\n$/)
        await rotate(session, another)
        assert.equal(await run(session, 'cd /workspace/pushed && git push -q; echo $?'), '0\n')
        assert.equal(await git.git(path, 'show', 'main:a'), 'third')
        const look = `env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; grep -ra 'canary[-]token' /workspace /opt/repositories /tmp /home /etc 2>/dev/null; cat /workspace/pushed/.git/config`
        assert.doesNotMatch(await run(session, look), /canary-token/)
        const page = `curl -s -o /dev/null -w '%{http_code}' ${url('/one/pushed/settings')}`
        git.asked.length = 0
        await run(session, page)
        assert.deepEqual(
          git.asked.map(({ authorization }) => authorization),
          [undefined],
        )
        // Exit code 1 of grep: no file of the server contains the token.
        const { status } = spawnSync('grep', ['-raq', 'canary-token', service.dataDir])
        assert.equal(status, 1)
        assert.doesNotMatch(service.logged.join(), /canary-token/)
      },
    )

    verifies(
      ['resources/repository/errors'],
      'a repository that cannot be cloned is reported, and the session goes on without it',
      async () => {
        await git.create('/one/private', { a: 'secret\n' }, token)
        await git.create('/one/forbidden', { a: 'secret\n' }, 'nobody')
        await git.create('/one/fine', { a: 'fine\n' })
        const at = (path: string, more: object = {}) => ({ url: url(path), ...more })
        const wrong = { authorization_token: 'a-wrong-one' }
        const cases: [type: string, resource: { url: string }][] = [
          ['authentication', at('/one/private')],
          ['authentication', at('/one/private', { ...wrong, mount_path: '/workspace/p2' })],
          ['forbidden', at('/one/forbidden', wrong)],
          ['not_found', at('/one/absent')],
          ['checkout', at('/one/fine', { checkout: { type: 'branch', name: 'absent' } })],
          [
            'checkout',
            at('/one/fine', {
              checkout: { type: 'commit', sha: 'ab'.repeat(20) },
              mount_path: '/workspace/f2',
            }),
          ],
        ]
        const session = await create(
          ...cases.map(([, resource]) => resource),
          at('/one/fine', { mount_path: '/workspace/f3' }),
        )
        const events = await turn(service, session, bash('ls /workspace; cat /workspace/f3/a'))
        assert.deepEqual(
          all(events, 'session.error').map(({ error }) => {
            const { message, ...rest } = error as { message: string }
            assert.match(message, /could not be cloned into/)
            return rest
          }),
          cases.map(([kind, resource]) => ({
            type: `repository_${kind}_error`,
            repository_url: resource.url,
            retry_status: { type: 'retrying' },
          })),
        )
        const result = textOf(only(events, 'agent.tool_result'))
        assert.match(result, /^f3\nfine\n/)
        assert.match(result, /private could not be cloned into \/workspace\/private/)
        assert.doesNotMatch(JSON.stringify([events, service.logged]), /a-wrong-one|canary-token/)
      },
    )

    verifies(
      ['resources/repository/errors', 'resources/rotate-token'],
      'a repository that failed is cloned as soon as its token is right, in the sandbox that runs',
      async () => {
        const path = '/one/late'
        await git.create(path, { a: 'late\n' }, token)
        const session = await create({ url: url(path), authorization_token: 'a-wrong-one' })
        const failed = await turn(service, session, bash('ls'))
        assert.equal(all(failed, 'session.error').length, 1)
        await rotate(session, token)
        assert.equal(await run(session, 'cat /workspace/late/a'), 'late\n')
      },
    )

    verifies(
      ['resources/repository/cloned'],
      'a mirror that one token opened is used for no other token, and for no token that has lost its right',
      async () => {
        const path = '/one/taken'
        await git.create(path, { a: 'secret\n' }, token)
        const own = { url: url(path), authorization_token: token }
        assert.equal(await run(await create(own), 'cat /workspace/taken/a'), 'secret\n')
        git.setToken(path, 'canary-token-that-came-later')
        for (const each of [own, { url: own.url }, { ...own, authorization_token: 'guess-work' }]) {
          const events = await turn(
            service,
            await create(each),
            bash(
              'cat /workspace/taken/a; grep -ra secret /opt/repositories; find /opt/repositories -type f',
            ),
          )
          assert.doesNotMatch(textOf(only(events, 'agent.tool_result')), /secret\n|pack/)
        }
      },
    )

    verifies(
      ['resources/repository/cloned'],
      'an empty repository can be cloned to begin in',
      async () => {
        await git.create('/one/empty', {})
        const session = await create({ url: url('/one/empty') })
        const look = 'cd /workspace/empty && git status | head -1 && ls -A'
        assert.equal(await run(session, look), 'On branch main\n.git\n')
      },
    )
  })
}

describe('repositories at another machine', () => {
  verifies(
    'workspace/restore-skips-clone',
    'are in the restored working folder, and nobody is asked for them again',
    async () => {
      await using git = await gitServer()
      await git.create('/one/moved', { a: 'first\n' }, token)
      const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
      const env = {
        DATABASE_URL: await newPostgresUrl(),
        STORE_BACKENDS: JSON.stringify({ blobs: { type: 'disk', dir: join(folder, 'blobs') } }),
      }
      const outside = outsideTo(git)
      const machine = () => boot('postgres', { env, overrides: { nameOverride: outside } })
      const repository = { type, url: 'https://api.example/one/moved', authorization_token: token }
      const said = async (service: TestService, session: string, command: string) =>
        textOf(only(await turn(service, session, bash(command)), 'agent.tool_result'))
      const one = await machine()
      const session = await newSession(one, { tools }, { resources: [repository] })
      await said(one, session, 'cd /workspace/moved && echo mine >> a')
      await one.close()
      git.asked.length = 0
      const other = await machine()
      const shown = await said(other, session, 'cd /workspace/moved && cat a && git status -s')
      assert.match(shown, /^first\nmine\n M a\n/)
      assert.deepEqual(git.asked, [])
      await other.close()
      await rm(folder, { recursive: true })
    },
  )
})

describe('repositories without isolation', () => {
  verifies(
    'resources/repository/cloned',
    'are cloned on the machine itself, into the folder of the session',
    async () => {
      await using git = await gitServer()
      await git.create('/one/local', { a: 'first\n' }, token)
      const env = { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' }
      const service = await boot('sqlite', { env, overrides: { nameOverride: outsideTo(git) } })
      const repository = { type, url: 'https://api.example/one/local', authorization_token: token }
      const session = await newSession(service, { tools }, { resources: [repository] })
      const events = await turn(service, session, bash('cat local/a && git -C local status -sb'))
      const said = textOf(only(events, 'agent.tool_result'))
      assert.equal(said, 'first\n## main...origin/main\n')
      await service.close()
    },
  )
})
