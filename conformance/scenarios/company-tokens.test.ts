import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { readConfig } from '@steward/server/ground/config/config.ts'
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { identitySettings, tokenHeaders } from '../issuer.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, rootSecret, scenarioDatabases } from '../service.ts'
import { message } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const hosted = (environment_id?: string) => ({
  environment: { type: 'openai_hosted', ...(environment_id && { environment_id }) },
})

/** A provider that does not answer. */
const away = 'http://127.0.0.1:1'

type Audit = { data: { action: string; actor: object; credential: object }[] }

const ada = { sub: 'ada', email: 'ada@acme.example', name: 'Ada', groups: ['eng-web'] }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`tokens of a company's identity providers on ${database}`, () => {
    let issuer: TestIssuer
    let other: TestIssuer
    let service: TestService
    before(async () => {
      issuer = await startIssuer()
      other = await startIssuer()
      const rules = [
        { groups: ['eng-*'], workspace: 'default', role: 'member' },
        { groups: ['leads'], workspace: 'default', role: 'admin' },
        { groups: ['reviewers-here'], workspace: 'default', role: 'reviewer' },
        { groups: ['leads', 'reviewers'], workspace: 'second', role: 'reviewer' },
      ]
      service = await boot(database, {
        env: identitySettings({
          okta: { issuer: issuer.issuer, audience: ['steward', 'api://steward'], rules },
          ci: {
            ...{ issuer: other.issuer, jwks_uri: `${other.issuer}/keys`, audience: 'steward' },
            rules: [{ claims: { repository: 'acme/*' }, workspace: 'default', role: 'viewer' }],
          },
          away: {
            ...{ issuer: away, audience: 'steward' },
            rules: [{ subject: '*', workspace: 'default', role: 'viewer' }],
          },
        }),
      })
      await service.otherWorkspace('second')
    })
    after(async () => {
      await service.close()
      await issuer[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    })

    const ask = async (claims: object, method: string, path: string, body?: object) =>
      service.ask(method, path, body, await tokenHeaders(issuer, claims as typeof ada))

    verifies(
      ['identity/tokens/transport', 'auth/kinds/identity-token'],
      'open both wires to the official clients, as Bearer alone',
      async () => {
        const token = await issuer.sign(ada)
        const client = new Anthropic({ baseURL: service.base, authToken: token, apiKey: null })
        const agent = await client.beta.agents.create({ name: 'by token', model: 'offline' })
        assert.match(agent.id, /^agent_/)
        const openai = new OpenAI({ baseURL: `${service.base}/openai/v1`, apiKey: token })
        const files = await openai.files.list()
        assert.deepEqual(files.data, [])
        const asKey = await service.ask('GET', '/v1/agents', undefined, { 'x-api-key': token })
        assert.equal(asKey.status, 401)
        const [, , signature = ''] = token.split('.')
        assert.ok(service.logged.every((line) => !line.includes(signature)))
      },
    )

    verifies(
      ['identity/tokens/checked', 'identity/tokens/algorithms', 'identity/tokens/away'],
      'are refused when another issuer has signed them, or they are for another',
      async () => {
        const [foreign] = other.state.keys
        assert.ok(foreign)
        const forgeries = [
          await issuer.sign(ada, { key: foreign.privateKey }),
          await issuer.sign({ ...ada, aud: 'others' }),
          await issuer.sign(ada, { lifetime: -60 }),
          await other.sign({ ...ada, iss: issuer.issuer }),
          await issuer.sign({ ...ada, iss: 'https://evil.example' }),
        ]
        for (const token of forgeries) {
          const headers = { 'x-api-key': '', authorization: `Bearer ${token}` }
          const { status, body } = await service.ask('GET', '/v1/agents', undefined, headers)
          assert.equal(status, 401, JSON.stringify(body))
        }
        const ofAway = await tokenHeaders(issuer, { ...ada, iss: away })
        assert.equal((await service.ask('GET', '/v1/agents', undefined, ofAway)).status, 503)
      },
    )

    verifies(
      ['identity/rules', 'identity/rules/none', 'identity/tokens/workspace'],
      'give the roles of their rules in the workspace that the request names',
      async () => {
        const lead = { ...ada, sub: 'lea', groups: ['leads', 'eng-web'] }
        const unnamed = await ask(lead, 'GET', '/v1/ext/me')
        assert.equal(unnamed.status, 400)
        const { id: second } = await service.database.read
          .selectFrom('workspaces')
          .select('id')
          .where('name', '=', 'second')
          .executeTakeFirstOrThrow()
        const headers = await tokenHeaders(issuer, lead)
        const named = { ...headers, 'anthropic-workspace-id': second }
        const me = await service.ask<{ workspaces: object[] }>(
          'GET',
          '/v1/ext/me',
          undefined,
          named,
        )
        assert.deepEqual(me.body.workspaces, [
          { id: second, name: 'second', archived_at: null, role: 'reviewer' },
        ])
        const foreign = { ...headers, 'anthropic-workspace-id': 'wrkspc_other' }
        assert.equal((await service.ask('GET', '/v1/ext/me', undefined, foreign)).status, 403)
        const stranger = await ask(
          { sub: 'eve', groups: ['sales'], secret: 'x-17' },
          'GET',
          '/v1/agents',
        )
        assert.equal(stranger.status, 403)
        const told = JSON.stringify(stranger.body)
        assert.match(told, /not_a_member/)
        assert.match(told, /groups, secret/)
        assert.ok(!told.includes('x-17') && !told.includes('sales'))
        const job = await tokenHeaders(other, { sub: 'repo:acme/app', repository: 'acme/app' })
        assert.equal((await service.ask('GET', '/v1/agents', undefined, job)).status, 200)
        const made = await service.ask('POST', '/v1/environments', { name: 'x' }, job)
        assert.equal(made.status, 403)
        assert.match(JSON.stringify(made.body), /needs the role member.*gives viewer/)
      },
    )

    verifies(
      ['identity/tokens/keys', 'identity/tokens/remembered'],
      'ask their provider for keys at a bounded rate, whatever callers send',
      async () => {
        const [header = '', payload, signature] = (await other.sign({ sub: 'x' })).split('.')
        const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string }
        const before = other.state.asked.keys
        const answers = Array.from({ length: 200 }, async (_, n) => {
          const forged = Buffer.from(JSON.stringify({ alg, kid: `k${n}` })).toString('base64url')
          const authorization = `Bearer ${forged}.${payload}.${signature}`
          const headers = { 'x-api-key': '', authorization }
          return (await service.ask('GET', '/v1/agents', undefined, headers)).status
        })
        assert.deepEqual(new Set(await Promise.all(answers)), new Set([401]))
        assert.ok(other.state.asked.keys - before <= 1)
      },
    )

    verifies(
      'identity/rules/shared-issuers',
      'of an issuer that everybody has open nothing by a rule for everybody',
      () => {
        const issuer = 'https://token.actions.githubusercontent.com'
        const rules = [{ subject: '*', workspace: 'default', role: 'viewer' }]
        const ci = { issuer, audience: 'steward', rules }
        const read = readConfig({
          PLATFORM_ROOT_SECRET: rootSecret,
          ...identitySettings({ ci }),
        })
        assert.match(read.ok ? '' : read.problems.join(), /everybody in the world/)
      },
    )

    verifies(
      ['reviewer/starts', 'reviewer/answers', 'reviewer/nothing-else'],
      'of a reviewer start sessions of stored agents and answer them, and no more',
      async () => {
        const { body: agent } = await service.ask('POST', '/v1/agents', {
          ...{ name: 'asks', model: 'offline' },
          tools: [
            { type: 'custom', name: 'decide', description: 'd', input_schema: { type: 'object' } },
          ],
        })
        const { body: environment } = await service.ask('POST', '/v1/environments', { name: 'r' })
        const reviewer = { sub: 'rea', groups: ['reviewers-here'] }
        const start = { agent: agent.id, environment_id: environment.id }
        const made = await ask(reviewer, 'POST', '/v1/sessions', start)
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const session = `/v1/sessions/${made.body.id}`
        const post = (event: object) =>
          ask(reviewer, 'POST', `${session}/events`, { events: [event] })
        assert.equal((await post(message('call decide {}'))).status, 202)
        await until(async () => {
          const { body } = await service.ask('GET', `${session}/events`)
          return body.data.some(({ type }) => type === 'agent.custom_tool_use')
        })
        const { body: log } = await service.ask('GET', `${session}/events`)
        const call = log.data.find(({ type }) => type === 'agent.custom_tool_use')
        const result = {
          ...{ type: 'user.custom_tool_result', custom_tool_use_id: call?.id },
          content: [{ type: 'text', text: 'yes' }],
        }
        assert.equal((await post(result)).status, 202)
        assert.equal((await post({ type: 'user.interrupt' })).status, 202)
        assert.equal((await ask(reviewer, 'POST', `${session}/cancel`)).status, 200)
        const rubric = { type: 'text', content: 'c' }
        const outcome = { type: 'user.define_outcome', description: 'd', rubric }
        assert.equal((await post(outcome)).status, 403)
        const overrides = { type: 'agent_with_overrides', id: agent.id, system: 'obey' }
        const refused: [string, object][] = [
          ['/v1/sessions', { ...start, agent: overrides }],
          ['/v1/sessions', { ...start, initial_events: [outcome] }],
          [
            '/openai/v1/agents/sessions',
            { ...hosted(environment.id), agent: { model: 'offline' } },
          ],
          ['/openai/v1/agents/sessions', { ...hosted(), agent_id: agent.id }],
          [session, { title: 'x' }],
          ['/v1/agents', { name: 'x', model: 'offline' }],
          ['/v1/ext/api_keys', { name: 'x' }],
        ]
        for (const [path, body] of refused) {
          const { status, body: told } = await ask(reviewer, 'POST', path, body)
          assert.equal(status, 403, `${path} ${JSON.stringify(body)}: ${JSON.stringify(told)}`)
        }
        const openai = { ...hosted(environment.id), agent_id: agent.id }
        const ofOpenai = await ask(reviewer, 'POST', '/openai/v1/agents/sessions', openai)
        assert.equal(ofOpenai.status, 200, JSON.stringify(ofOpenai.body))
        const input = { events: [{ type: 'agent.session.input.cancel' }] }
        const path = `/openai/v1/agents/sessions/${ofOpenai.body.id}/events`
        assert.equal((await ask(reviewer, 'POST', path, input)).status, 202)
      },
    )

    verifies(
      'identity/subjects',
      'are named with their issuer in the audit and as creators',
      async () => {
        const { body: agent } = await ask(ada, 'POST', '/v1/agents', {
          name: 'named',
          model: 'offline',
        })
        const { body: environment } = await ask(ada, 'POST', '/v1/environments', { name: 'named' })
        const { body: session } = await ask(ada, 'POST', '/v1/sessions', {
          ...{ agent: agent.id, environment_id: environment.id },
        })
        const { body: audit } = await service.ask<Audit>('GET', '/v1/ext/audit?limit=100')
        const line = audit.data.find(({ action }) => action === 'agent.create')
        const { id } = await service.database.read
          .selectFrom('subjects')
          .select('id')
          .where('subject', '=', 'ada')
          .executeTakeFirstOrThrow()
        const name = `Ada <ada@acme.example> (${issuer.issuer})`
        assert.deepEqual(line?.actor, { type: 'subject', id, name })
        assert.deepEqual(line.credential, { type: 'identity_token', id })
        const { body: listed } = await service.ask('GET', `/v1/ext/sessions?created_by=${id}`)
        assert.deepEqual(
          listed.data.map((each) => each.id),
          [session.id],
        )
        assert.deepEqual(listed.data[0]?.['created_by'], { type: 'subject', id, name })
      },
    )

    verifies('identity/tokens/api-keys', 'make no key that outlives the day', async () => {
      const make = (body: object) => ask(ada, 'POST', '/v1/ext/api_keys', { name: 'k', ...body })
      const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
      assert.equal((await make({})).status, 403)
      assert.equal((await make({ expires_at: inHours(25) })).status, 403)
      assert.equal((await make({ expires_at: inHours(23) })).status, 200)
    })

    verifies(
      ['identity/tokens/open-answers', 'identity/tokens/age'],
      'end what they have open when they end',
      async () => {
        const claims = { ...ada, sub: 'bea' }
        // The clocks may differ by 30 seconds, and the token counts for no longer.
        const headers = await tokenHeaders(issuer, claims, { lifetime: 32, issuedAt: -60 })
        await using stream = await openStream(service, '/v1/ext/stream', { headers })
        await stream.untilType('stream.opened')
        await stream.ended
        const { status } = await service.ask('GET', '/v1/agents', undefined, headers)
        assert.equal(status, 401)
      },
    )
  })
}
