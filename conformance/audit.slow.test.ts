/** The audit has a line for each change over every route, and none for reads and refused requests. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe } from 'node:test'
import type { AuditLine } from '@steward/protocol/audit.ts'
import { deriveRouteAudit } from '@steward/server/ground/http/route-audit.ts'
import type { Route } from '@steward/server/ground/http/route.ts'
import { auditExceptions } from '@steward/server/surfaces/v1/audit.ts'
import { allRoutesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { uploadFile } from './files.ts'
import type { PathFixtures } from './isolation-paths.ts'
import { bodyOf, canary, fill, makeFixtures, memoryBeta } from './isolation-paths.ts'
import type { PersonClient } from './people.ts'
import { invitationToken } from './invitations.ts'
import { accept, cookieOf, password, personAt } from './people.ts'
import type { TestService } from './service.ts'
import { boot, scenarioDatabases } from './service.ts'
import { oddZip, sendBody, skillForm, skillText } from './skills.ts'
import { newSession, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** Bodies of routes whose published example would end the walk. */
const bodies: Record<string, object> = {
  'post /v1/organizations/workspaces/:id/rate_limits/:rate_limit_id': {
    limits: [{ type: 'requests_per_minute', value: 50_000 }],
  },
}

/** Sorts the routes: a route that ends a resource comes last, so that the other routes find the resource. */
const weight = ({ method, path }: Route): number => {
  if (method === 'delete') return (path.startsWith('/openai/') ? 3 : 2) + 1 / path.length
  return /archive|redact|leave|sign_out/.test(path) ? 1 : 0
}

/** Changes that the walk cannot make: it has no body for them, or not the right caller. */
async function changeTheRest(service: TestService, fixtures: PathFixtures): Promise<void> {
  const at = (path: string) => fill(path, fixtures, 'theirs')
  async function ok(method: string, path: string, body?: object, headers = {}) {
    const answer = await service.ask(method, path, body, headers)
    assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(answer.body)}`)
    return answer
  }
  const beta = { 'vendor-beta': memoryBeta }
  const memories = at('/v1/memory_stores/:id/memories')
  const made = await ok('POST', memories, { path: '/r', content: 'x' }, beta)
  await ok('POST', `${memories}/${made.body.id}`, { content: 'y' }, beta)
  const versions = at('/v1/memory_stores/:id/memory_versions')
  const { body: all } = await ok('GET', `${versions}?memory_id=${made.body.id}`, undefined, beta)
  await ok('POST', `${versions}/${all.data.at(-1)?.id}/redact`, undefined, beta)
  const workspace = at('/v1/organizations/workspaces/:id')
  const limits = [{ type: 'requests_per_minute', value: 50_000 }]
  await ok('POST', `${workspace}/rate_limits/rl_writes`, { limits })
  await ok('POST', '/v1/ext/quotas/agents', { limit: 900 })
  await ok(
    'DELETE',
    `/v1/environments/${(await ok('POST', '/v1/environments', { name: 'e' })).body.id}`,
  )
  const files = [{ filename: 'SKILL.md', content: skillText('walked') }]
  const { body: skill } = await ok('POST', '/v1/skills', { files })
  const { body: newer } = await ok('POST', `/v1/skills/${skill.id}/versions`, {
    files: [{ filename: 'SKILL.md', content: skillText('walked', 'newer') }],
  })
  await ok('DELETE', `/v1/skills/${skill.id}/versions/${String(newer['version'])}`)
  const archive = oddZip([{ name: 'x/SKILL.md', bytes: skillText('zipped') }])
  const form = skillForm([{ path: 'x.zip', content: archive }], {}, 'file')
  assert.equal((await sendBody(service, '/v1/skills/upload', form)).status, 200)
  const session = await newSession(service, {
    mcp_servers: [{ type: 'url', name: 'up', url: 'https://up.example' }],
  })
  await ok('POST', `/v1/ext/mcp-proxy/${session}/up/token`)
  await ok('POST', '/v1/ext/mcp_probes', { url: 'https://up.example' })
  // The walk's own session has threads, and a session with threads cannot be forked.
  await ok('POST', `/v1/ext/sessions/${session}/fork`, {})
  const { body: file } = await ok('GET', '/v1/files')
  const resources = `/v1/sessions/${session}/resources`
  const { body: resource } = await ok('POST', resources, {
    type: 'file',
    file_id: file.data[0]?.id,
  })
  await ok('DELETE', `${resources}/${resource.id}`)
  const { body: agent } = await ok('POST', '/v1/agents', { name: 'a', model: 'offline', tools: [] })
  const { body: environment } = await ok('POST', '/v1/environments', { name: 'of a long eval' })
  const { body: run } = await ok('POST', '/v1/ext/evals', {
    agent: agent.id,
    environment_id: environment.id,
    samples: [{ input: 'wait: 600000' }],
    graders: [{ name: 'says', type: 'text', op: 'includes', value: 'never' }],
  })
  await ok('POST', `/v1/ext/evals/${run.id}/cancel`)
  const { body: store } = await ok('POST', '/v1/memory_stores', { name: 'dream' }, beta)
  const { body: dream } = await ok('POST', '/v1/dreams', {
    inputs: [
      { type: 'memory_store', memory_store_id: store.id },
      { type: 'sessions', session_ids: [session] },
    ],
    model: 'offline',
    instructions: 'wait: 600000',
  })
  await ok('POST', `/v1/dreams/${dream.id}/cancel`)
  const member = { name: 'member', model: 'offline', tools: [] }
  const { body: helper } = await ok('POST', '/v1/agents', member)
  const team = await newSession(service, {
    multiagent: { type: 'coordinator', agents: [helper.id] },
  })
  await turn(service, team, 'call create_agent {"agent": "member", "message": "say: hi"}')
  const { body: threads } = await ok('GET', `/v1/sessions/${team}/threads`)
  const child = threads.data.find((each) => each['parent_thread_id'] !== null)
  await ok('POST', `/v1/sessions/${team}/threads/${child?.id}/archive`)
  await ok('POST', '/v1/ext/rules', { allowed: { images: ['walked'] } })
  await ok('POST', '/v1/ext/retention', { sessions: 900 })
  const scope = { type: 'session', session_id: session }
  const { body: hold } = await ok('POST', '/v1/ext/holds', { scope, reason: 'walked' })
  await ok('POST', `/v1/ext/holds/${hold.id}/release`)
  const byOpenAI = { path: '/openai/v1/files', fields: { purpose: 'user_data' } }
  const uploaded = await uploadFile(service, byOpenAI)
  await changeByOpenAI(ok, uploaded.id)
  await ok('DELETE', `/openai/v1/files/${uploaded.id}`)
}

const skillFiles = (word: string) => [
  { filename: 'SKILL.md', content: skillText('by-openai', 'x', word) },
]

/** Changes resources over `/openai/v1` that the walk has already ended over `/v1`. */
async function changeByOpenAI(
  ok: (method: string, path: string, body?: object) => Promise<{ body: { id: string } }>,
  file: string,
) {
  const make = async (path: string, body: object) => {
    const { id } = (await ok('POST', path, body)).body
    return `${path}/${id}`
  }
  const agents = '/openai/v1/agents'
  const agent = { model: 'offline' }
  const session = await make(`${agents}/sessions`, {
    agent,
    environment: { type: 'openai_hosted' },
  })
  const vault = await make('/openai/v1/vaults', {})
  const auth = { type: 'static_bearer', token: 'x', mcp_server_url: 'https://x.example' }
  const credential = await make(`${vault}/credentials`, { name: 'x', auth })
  const template = await make(`${agents}/environments/templates`, {})
  const environment = await make(`${agents}/environments`, {
    environment: { type: 'openai_hosted' },
  })
  const skill = await make('/openai/v1/skills', { files: skillFiles('first') })
  const version = await make(`${skill}/versions`, { files: skillFiles('second') })
  await ok('POST', `${environment}/files`, { type: 'file_id', file_id: file, path: '/workspace/x' })
  for (const path of [
    await make(agents, agent),
    session,
    credential,
    vault,
    template,
    version,
    skill,
  ])
    await ok('DELETE', path)
}

async function signIn(service: TestService, email: string): Promise<PersonClient> {
  const body = { email, password }
  const answer = await service.ask('POST', '/v1/ext/auth/sign_in', body, { 'x-api-key': '' })
  return personAt(service, cookieOf(answer.headers))
}

/** Changes members and workspaces as the owner. */
async function changePeople(service: TestService, owner: PersonClient): Promise<void> {
  const join = async (email: string) => {
    const { body } = await owner.ask<{ url: string }>('POST', '/v1/ext/invitations', {
      role: 'viewer',
    })
    const person = await accept(service, invitationToken(body.url), { email, name: email })
    const { body: me } = await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
    return { person, id: me.user.id }
  }
  const first = await join('first@walk.example')
  const second = await join('second@walk.example')
  const third = await join('third@walk.example')
  const answers = [
    await owner.ask('POST', `/v1/ext/members/${first.id}`, { role: 'member' }),
    await owner.ask('DELETE', `/v1/ext/members/${first.id}`),
    await owner.ask('DELETE', `/v1/ext/people/${third.id}`),
    await second.person.ask('POST', '/v1/ext/auth/leave'),
    await second.person.ask('DELETE', '/v1/ext/me?confirm=second@walk.example'),
  ]
  // The deletion of a workspace also removes the audit lines of its archiving.
  for (const isDeleted of [false, true]) {
    const path = '/v1/organizations/workspaces'
    const { body } = await owner.ask<{ id: string }>('POST', path, { name: 'w' })
    answers.push(await owner.ask('POST', `${path}/${body.id}/archive`))
    if (isDeleted) answers.push(await owner.ask('DELETE', `${path}/${body.id}?confirm=${body.id}`))
  }
  // The answer is lines of JSON, which the client of the tests does not read.
  const exported = await fetch(`${service.base}/v1/ext/people/${first.id}/export`, {
    method: 'POST',
    headers: { cookie: owner.cookie, origin: service.base },
  })
  assert.match(await exported.text(), /"type":"person"/)
  for (const answer of answers) assert.ok(answer.status < 300, JSON.stringify(answer.body))
}

/** Routes that need the answers of a server outside, or something that only a turn makes. */
const elsewhere = [
  'POST /v1/sessions/:id/resources/:resource',
  'POST /v1/vaults/:id/credentials/:credential_id/mcp_oauth_validate',
  'DELETE /openai/v1/agents/sessions/:id/artifacts/:artifact_id',
  'POST /v1/ext/integrations/:integration_id/publications/:pub_id/deliveries/:delivery_id/tell',
]

for (const database of scenarioDatabases(import.meta.filename))
  describe(`the audit on ${database}`, () => {
    let service: TestService
    let routes: Route[]
    let fixtures: PathFixtures
    before(async () => {
      service = await boot(database, {
        env: { RATE_LIMITS: 'writes:100000/m', MESSAGES_API: 'true' },
      })
      routes = allRoutesOver(service.database)
      fixtures = await makeFixtures(service)
    })
    after(() => service.close())

    const linesOf = (request: string) =>
      service.database.read
        .selectFrom('audit_lines')
        .selectAll()
        .where('request_id', '=', request)
        .execute()

    verifies(
      'audit/lines/each',
      'has a line for each change over every route, and none for a read or a refusal',
      async () => {
        await changeTheRest(service, fixtures)
        await changePeople(service, await signIn(service, 'ada@first.example'))
        for (const route of routes.toSorted((a, b) => weight(a) - weight(b))) {
          const { method, path } = route
          const name = `${method} ${path}`
          if (route.answer === 'stream') continue
          const ask = async (which: 'theirs' | 'never') => {
            const where = fill(path, fixtures, which)
            const headers = { 'vendor-beta': memoryBeta }
            const body = bodies[name] ?? bodyOf(route)
            const answer = await service.raw(method.toUpperCase(), where, body, headers)
            await answer.arrayBuffer()
            return { answer, lines: await linesOf(answer.headers.get('request-id') ?? '') }
          }
          const absent = await ask('never')
          if (absent.answer.status >= 400) assert.deepEqual(absent.lines, [], `${name} of nothing`)
          const { answer, lines } = await ask('theirs')
          const audit = deriveRouteAudit(route, auditExceptions)
          if (answer.status >= 400) assert.deepEqual(lines, [], `${name} ${answer.status}`)
          else if (!audit?.isAutomatic) assert.deepEqual(lines, [], name)
          else {
            // A deployment that a call runs makes a session, whose line has the deployment as actor.
            const own = lines.filter((line) => line.actor_type === 'api_key')
            assert.deepEqual(own.map(({ action }) => action).slice(0, 1), [audit.action], name)
          }
        }
        const lines = await service.database.read
          .selectFrom('audit_lines')
          .select(['method', 'route', 'actor_id', 'resource_id'])
          .execute()
        const without = lines.filter((line) => !line.actor_id || !line.resource_id)
        assert.deepEqual(without, [])
        const seen = new Set([...lines.map((line) => `${line.method} ${line.route}`), ...elsewhere])
        const missing = routes
          .filter((route) => deriveRouteAudit(route, auditExceptions)?.isAutomatic)
          .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
          .filter((name) => !seen.has(name))
        assert.deepEqual(missing, [])
      },
    )

    type AuditEntry = AuditLine & {
      before: Record<string, unknown>
      after: Record<string, unknown>
    }
    const listed = async (query: string, headers?: Record<string, string>) =>
      (
        await service.ask<{ data: AuditEntry[] }>(
          'GET',
          `/v1/ext/audit?${query}`,
          undefined,
          headers,
        )
      ).body.data

    verifies(
      'http/query/audit',
      'refuses a filter that it does not know or that is empty',
      async () => {
        for (const path of ['', '/export', '/credential_uses', '/credential_changes']) {
          const ask = (query: string) => service.raw('GET', `/v1/ext/audit${path}?${query}`)
          const answers: [query: string, status: number, why: RegExp][] = [
            ['resourceid=agent_x', 400, /resourceid: is no parameter of this route, which takes /],
            [
              'session_id=',
              400,
              path === '' || path === '/export'
                ? /is no parameter/
                : /session_id: must not be empty/,
            ],
            ['beta=true', 200, /./],
          ]
          for (const [query, status, why] of answers) {
            const answer = await ask(query)
            assert.equal(answer.status, status, `${path}?${query}`)
            assert.match(await answer.text(), why)
          }
        }
      },
    )

    verifies(
      ['audit/lines', 'audit/lines/fields', 'audit/lines/narrowed', 'audit/lines/no-secret'],
      'says who changed what, and neither a secret nor a long text',
      async () => {
        const [system, token] = ['a long prompt '.repeat(40), 'a-token-of-a-server']
        const server = {
          type: 'url',
          name: 'up',
          url: `https://${token}@up.example/x?key=${token}`,
        }
        const body = { name: 'told', model: 'offline', tools: [], system, mcp_servers: [] }
        const { body: agent } = await service.ask('POST', '/v1/agents', body)
        const agents = `/v1/agents/${agent.id}`
        const headers = { 'user-agent': `x\u00ff${'y'.repeat(5_000)}` }
        await service.ask(
          'POST',
          agents,
          { version: 1, name: 'renamed', mcp_servers: [server] },
          headers,
        )
        const found = await listed(`resource_id=${agent.id}&action=agent.*`)
        assert.deepEqual(
          found.map(({ action }) => action),
          ['agent.update', 'agent.create'],
        )
        const [update, creation] = found
        assert.ok(update && creation)
        assert.equal(update.before['name'], 'told')
        assert.equal(update.after['name'], 'renamed')
        assert.deepEqual(creation.after['system'], {
          sha256: createHash('sha256').update(JSON.stringify(system)).digest('hex'),
          length: JSON.stringify(system).length,
        })
        assert.equal(update.actor.name, 'first key')
        assert.equal(update.address, '127.0.0.1')
        assert.match(update.user_agent ?? '', /^x\?y{198}$/)
        assert.doesNotMatch(JSON.stringify(found), new RegExp(`${token}|long prompt a`))
        assert.deepEqual(await listed(`resource_id=${agent.id}&actor_id=apikey_other`), [])
        assert.deepEqual(await listed(`resource_id=${agent.id}&action=agent.delete`), [])
        const { id } = update.credential
        assert.equal((await listed(`resource_id=${agent.id}&credential_id=${id}`)).length, 2)
        const before = `created_at[lt]=${creation.created_at}`
        assert.deepEqual(await listed(`resource_id=${agent.id}&${before}`), [])
      },
    )

    verifies(
      ['audit/lines/chained', 'audit/export'],
      'is exported with its hashes, to the admins of the workspace alone',
      async () => {
        await until(async () => (await listed('limit=1'))[0]?.seq !== null)
        const exported = (key?: string) =>
          service.raw('GET', '/v1/ext/audit/export', undefined, key ? { 'x-api-key': key } : {})
        const lines = (await (await exported()).text()).trimEnd().split('\n')
        const chained = lines.map((line) => JSON.parse(line) as { seq: number; hash: string })
        assert.deepEqual(
          chained.map(({ seq }) => seq),
          lines.map((_, n) => n + 1),
        )
        const other = await service.otherWorkspace('other')
        // All that the other workspace may have is the first use of its own key.
        const ofOthers = async () => [
          ...(await (await exported(other.key)).text()).split('\n').filter(Boolean),
          ...(await listed('limit=10', { 'x-api-key': other.key })).map((line) =>
            JSON.stringify(line),
          ),
        ]
        await ofOthers()
        await until(async () => (await ofOthers()).length === 2)
        for (const line of await ofOthers())
          assert.equal((JSON.parse(line) as { action: string }).action, 'api_key.first_use')
        const { workspace } = other
        const member = await service.operatorKey(workspace, { name: 'm', admin: false })
        assert.equal((await exported(member.key)).status, 403)
      },
    )

    verifies('audit/deployment', 'has sign-ins in the chain of the deployment', async () => {
      const body = { email: 'ada@first.example', password: 'not the password' }
      const headers = { 'x-api-key': '' }
      assert.equal((await service.ask('POST', '/v1/ext/auth/sign_in', body, headers)).status, 401)
      const person = await signIn(service, body.email)
      await person.ask('POST', '/v1/ext/auth/sign_out')
      const lines = await service.database.read
        .selectFrom('audit_lines')
        .select(['action', 'actor_name', 'address'])
        .where('tenant_id', '=', '')
        .orderBy('id', 'desc')
        .limit(2)
        .execute()
      assert.deepEqual(
        lines.map(({ action, actor_name: name }) => [action, name]),
        [
          ['sign_in.end', `${canary} <ada@first.example>`],
          ['sign_in.create', `${canary} <ada@first.example>`],
        ],
      )
    })
  })
