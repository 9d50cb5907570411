import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { skillText } from '../skills.ts'
import { all, newSession, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]
const token = 'a-token-of-a-repository'
const at = (name: string) => `.claude/skills/${name}/SKILL.md`

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`skills of repositories on ${database}`, () => {
    let service: TestService
    let git: GitServer
    before(async () => {
      git = await gitServer()
      const dial = async () => connect({ port: git.server.port, host: '127.0.0.1' })
      const outside = { connect: connectTo(git.server), dial }
      service = await boot(database, { overrides: { nameOverride: outside } })
    })
    after(async () => {
      await service.close()
      await git[Symbol.asyncDispose]()
    })
    const withRepositories = (...paths: string[]) => {
      const resources = paths.map((path) => ({
        type: 'github_repository',
        url: `https://api.example${path}`,
        authorization_token: token,
      }))
      return newSession(service, { tools }, { resources })
    }
    const results = async (session: string, posted: string) =>
      all(await turn(service, session, posted), 'agent.tool_result').map(textOf)

    verifies('skills/repository', 'an agent is shown their list once, and reads them', async () => {
      const deploy = skillText('deploy', '# How\n', 'puts it\n  into use')
      await git.create(
        '/one/first',
        {
          [at('deploy')]: deploy,
          [at('odd')]: 'no head\n',
          [at('deep/er')]: skillText('deeper'),
          [at('long')]: skillText('long', 'ü'.repeat(200_000)),
          'skills/other/SKILL.md': skillText('other'),
          '.claude/skills/SKILL.md': skillText('above'),
        },
        token,
      )
      await git.create('/one/second', { [at('deploy')]: skillText('deploy') }, token)
      await git.create('/one/without', { a: 'a\n' }, token)
      const session = await withRepositories('/one/first', '/one/second', '/one/without')
      const [first = '', second] = await results(
        session,
        `run: echo hi\nrun: cat /workspace/first/${at('deploy')}`,
      )
      assert.ok(first?.startsWith('hi\n'), first)
      for (const line of [
        '/workspace/first brings skills of its own.',
        `- deploy (/workspace/first/${at('deploy')}): puts it into use\n`,
        `- long (/workspace/first/${at('long')}): what it is for\n`,
        '/workspace/second brings skills of its own.',
        `- deploy (/workspace/second/${at('deploy')}): what it is for`,
      ])
        assert.ok(first.includes(line), `${line} in ${first}`)
      assert.doesNotMatch(first, /odd|deeper|other|above|without/)
      assert.equal(second, deploy)
      assert.deepEqual(await results(session, 'run: echo again'), ['again\n'])
    })
  })
}
