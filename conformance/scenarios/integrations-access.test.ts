import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe } from 'node:test'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import {
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import type { Service } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const repository = '/github/acme/shop'
const kinds = '/v1/ext/integrations/github'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`what agents may do at a provider on ${database}`, () => {
    let service: Service
    let git: GitServer
    const stub = githubStub([{ id: 42, login: 'acme' }])
    /** Of requests that are neither git's nor answered by the stub. */
    const asked: (string | undefined)[] = []

    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { method = '', url: path = '', headers } = request
      const answered = stub.answer({ method, path, headers, body: await text(request) })
      if (!answered) asked.push(headers.authorization)
      // The newest token is that of the repository.
      git.setToken(repository, stub.tokens.at(-1))
      response.writeHead(answered?.status ?? 200, answered?.headers).end(answered?.body ?? 'ok')
    }

    before(async () => {
      git = await gitServer()
      await git.create(repository, { 'README.md': 'the shop\n' })
      git.setAnswer((request, response) => {
        if (request.url?.startsWith(`${repository}/`)) return false
        return void answer(request, response)
      })
      service = await boot(database, {
        env: githubSettings('https://api.example'),
        overrides: {
          outside: {
            connect: connectTo(git.server),
            dial: async () => connect({ port: git.server.port, host: '127.0.0.1' }),
          },
        },
      })
    })
    after(async () => {
      await service.close()
      await git[Symbol.asyncDispose]()
    })

    verifies(
      ['integrations/access', 'integrations/checkout'],
      'a session has the repository of its issue, and calls the provider with a token that it does not see',
      async () => {
        const installation_id = await installGithub(service)
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }],
        })
        const environment = await service.client.beta.environments.create({ name: fresh('place') })
        const { body: made } = await service.ask('POST', `${kinds}/publications`, {
          ...{ agent: agent.id, environment_id: environment.id, installation_id },
          app_access: true,
          github: {
            repositories: ['acme/shop', 'eve/shop'],
            authors: ['ada'],
            checkout: true,
          },
        })
        assert.equal(made['app_access'], true)
        const api = 'https://api.example/github/api/rate_limit'
        const calls = `cat /workspace/shop/README.md; curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" ${api}; echo "$GITHUB_TOKEN"`
        const comment = githubComment(7, `@steward\nrun: ${calls}`)
        assert.equal(await deliverGithub(service.base, 'issue_comment', comment), 200)
        const bodies = () => [...stub.comments.values()].map(({ body }) => body).join()
        await until(() => bodies().includes('the shop'))
        assert.deepEqual(stub.narrowed.slice(1), [['shop'], ['shop']])
        const [, ofCalls] = stub.tokens
        assert.deepEqual(asked, [`Bearer ${ofCalls}`])
        assert.ok(!bodies().includes('ghs_'), 'the agent does not see the token')

        const { data: sessions } = await service.client.beta.sessions.list()
        const [session] = sessions
        assert.ok(session)
        assert.deepEqual(
          session.resources.map((each) => 'url' in each && each.url),
          ['https://api.example/github/acme/shop'],
        )
        const [vault = ''] = session.vault_ids
        assert.equal(
          (await service.client.beta.vaults.retrieve(vault)).metadata['publication_id'],
          made.id,
        )
        assert.ok(!JSON.stringify([session, service.logged]).includes('ghs_'))
        await service.ask('POST', `${kinds}/uninstall`, { installation_id })
        assert.ok((await service.client.beta.vaults.retrieve(vault)).archived_at)
      },
    )
  })
}
