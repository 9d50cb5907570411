import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import { connectTo } from '@steward/server/egress/fixture.ts'
import type { GitServer } from '@steward/server/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/repositories/git-fixture.ts'
import type { Service } from '../service.ts'
import { boot, databases } from '../service.ts'
import type { Seen } from '../turns.ts'
import { all, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const type = 'github_repository'
const token = 'canary-token-of-a-repository'
const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
const bash = (command: string) => `call bash ${JSON.stringify({ command })}`

for (const database of databases) {
  describe(`clones of repositories on ${database}`, () => {
    let service: Service
    let git: GitServer
    before(async () => {
      git = await gitServer()
      const { port } = git.server
      const outside = {
        connect: connectTo(git.server),
        dial: async () => connect({ port, host: '127.0.0.1' }),
      }
      service = await boot(database, { overrides: { outside } })
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
    const errorsOf = (events: readonly Seen[]) =>
      all(events, 'session.error').map(({ error }) => error as Record<string, unknown>)

    verifies(
      ['resources/repository/cloned'],
      'a session finds its repository in the workspace, on its default branch and as its own',
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
  })
}
