import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe } from 'node:test'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import {
  beginGithub,
  comeBack,
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import type { ReceiverAnswer } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const repository = '/github/acme/shop'
const kinds = '/v1/ext/integrations/github'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`rights of agents at a provider on ${database}`, () => {
    let service: TestService
    let git: GitServer
    const stub = githubStub([
      { id: 42, login: 'acme' },
      { id: 43, login: 'ada', type: 'User' },
      { id: 44, login: 'other', role: 'member' },
      { id: 45, login: 'eve', type: 'User' },
      { id: 46, login: 'acme' },
    ])
    /** Requests for tokens wait for this promise. */
    let held: Promise<void> | undefined
    let isUnreachable = false
    let isRefused = false
    /** Requests that neither git nor the stub answered. */
    const asked: (string | undefined)[] = []

    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { method = '', url: path = '', headers } = request
      const body = await text(request)
      if (path.endsWith('/access_tokens')) await held
      if (isUnreachable || (isRefused && path.endsWith('/comments'))) {
        response.writeHead(isUnreachable ? 500 : 401).end()
        return
      }
      const answered = stub.answer({ method, path, headers, body })
      if (!answered) asked.push(headers.authorization)
      // The newest token is for the repository.
      git.setToken(repository, stub.tokens.at(-1))
      const {
        status = 200,
        headers: given,
        body: said = 'ok',
      }: Partial<ReceiverAnswer> = answered ?? {}
      response.writeHead(status, given).end(said)
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
          nameOverride: {
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
      [
        'integrations/access',
        'integrations/checkout',
        'integrations/reinstall',
        'integrations/install/begun',
        'integrations/access/schedules',
      ],
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

        // A schedule speaks at the provider by the same vault.
        const deployment = await service.client.beta.deployments.create({
          ...{ name: fresh('schedule'), agent: agent.id, environment_id: environment.id },
          vault_ids: [vault],
          initial_events: [
            {
              type: 'user.message',
              content: [
                {
                  type: 'text',
                  text: `run: curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" ${api}`,
                },
              ],
            },
          ],
        })
        await service.client.beta.deployments.run(deployment.id)
        await until(() => asked.length === 2)
        assert.equal(asked[1], `Bearer ${ofCalls}`)

        // A new thread waits for its token while the publication is paused.
        const { promise, resolve } = Promise.withResolvers<void>()
        held = promise
        const [given, told] = [stub.tokens.length, stub.comments.size]
        await deliverGithub(service.base, 'issue_comment', githubComment(8, '@steward say: late'))
        await service.ask('POST', `${kinds}/publications/${made.id}/pause`)
        resolve()
        const listed = `${kinds}/publications/${made.id}/deliveries`
        await until(async () => {
          const { body } = await service.ask('GET', listed)
          return body.data[0]?.['reason'] === 'the publication is paused'
        })
        assert.ok(stub.tokens.length <= given + 1 && stub.comments.size === told)

        const uninstall = async (id = installation_id) => {
          const { body } = await service.ask('POST', `${kinds}/uninstall`, { installation_id: id })
          return [body['status'], body['revoked_at_provider']]
        }
        const { body: live } = await service.ask('POST', `${kinds}/publications`, {
          ...{ agent: agent.id, environment_id: environment.id, installation_id },
          ...{ name: 'live', app_access: true },
          github: { repositories: ['acme/shop'], authors: ['ada'] },
        })
        const statusOf = async ({ id }: { id: string }, of: string) => {
          const { body } = await service.ask('GET', `${kinds}/publications/${id}`)
          return body['installation_id'] === of && body['status']
        }
        isRefused = true
        await deliverGithub(
          service.base,
          'issue_comment',
          githubComment(9, '@steward live\nsay: Later.'),
        )
        await until(async () => (await statusOf(live, installation_id)) === 'needs_reauth')
        isRefused = false
        isUnreachable = true
        assert.deepEqual(await uninstall(), ['revoked', false])
        isUnreachable = false
        assert.deepEqual(await uninstall(), ['revoked', true], 'it is ended there in the end')
        assert.deepEqual(stub.ended, ['42'])
        const anew = await installGithub(service)
        assert.deepEqual(await uninstall(), ['revoked', true])
        assert.deepEqual(stub.ended, ['42'], 'the end of an old one ends no new one')
        assert.notEqual(anew, installation_id)

        // A new installation of the account brings the publications back in their old state.
        assert.equal(await statusOf(made, anew), 'paused')
        await until(() => bodies().includes('Later.'))
        assert.equal(await statusOf(live, anew), 'live')
        const back = async (id: string) =>
          (await comeBack(service, { id, state: await beginGithub(service) })).status
        await uninstall(anew)
        assert.equal(await statusOf(live, anew), 'needs_reauth')
        // GitHub gives each installation of an account a new id.
        const state = await beginGithub(service)
        const { body: third } = await comeBack(service, { id: '46', state })
        assert.equal(await statusOf(live, third.id), 'live')
        const later = githubComment(10, '@steward live\nsay: By the third.', { installation: 46 })
        await deliverGithub(service.base, 'issue_comment', later)
        await until(() => bodies().includes('By the third.'))
        assert.equal(await back('43'), 200)
        assert.equal(await back('44'), 400, 'a reader of a repository installs nothing')
        assert.equal(await back('45'), 400)
        const first = await beginGithub(service)
        for (let n = 0; n < 20; n++) await beginGithub(service)
        assert.equal((await comeBack(service, { state: first })).status, 400, 'only 20 wait')
        assert.ok((await service.client.beta.vaults.retrieve(vault)).archived_at)
      },
    )
  })
}
