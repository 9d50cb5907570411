/** Walks every declared route as somebody who must not get anywhere. A new route is walked without a change here. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { routesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { derivedKey } from '@steward/server/ground/core/signed.ts'
import { mcpTokens } from '@steward/server/ground/core/mcp-token.ts'
import type { Route } from '@steward/server/ground/http/route.ts'
import type { Service } from './service.ts'
import { boot, databases, rootSecret } from './service.ts'
import { openStream } from './reader.ts'
import { skillText } from './skills.ts'
import { uploadFile } from './files.ts'
import { message, newSession, turn } from './turns.ts'
import { verifies } from './verifies.ts'

const canary = 'canary of the first tenant'
/** Without it the routes of memory stores say only that it is missing. */
const memoryBeta = 'agent-memory-2026-07-22'

/** A valid body where `{}` is none, so that a refusal is about the object and not the body. */
const bodies: Record<string, object> = {
  'post /v1/sessions/:id/events': { events: [message('say: x')] },
  'post /v1/sessions/:id/messages': { content: 'say: x' },
  'post /v1/memory_stores/:id/memories': { path: '/x', content: 'x' },
  'post /v1/vaults/:id/credentials': {
    auth: { type: 'static_bearer', token: 'x', mcp_server_url: 'https://x.example' },
  },
  'post /v1/sessions/:id/resources': { type: 'file', file_id: 'file_of_nobody' },
  'post /v1/environments/:id/work/:work': { metadata: {} },
  'patch /v1/environments/:id/work/:work': { metadata: {} },
  'post /v1/environments/:id/work/:work/stop': {},
  'post /v1/sessions/:id/resources/:resource': { authorization_token: 'x' },
  'post /v1/ext/stdio-servers/:session_id': { servers: [] },
  'post /v1/ext/checkpoints/:session_id/use': { folder: 'x', seen: null },
  'post /v1/ext/checkpoints/:session_id': {
    made: { base: { key: 'x', size: 0, sha256: '0'.repeat(64) }, delta: null },
    seen: { folder: 'x', parts: null, taken_at: null },
  },
  'post /v1/ext/inputs/:session_id/repositories/:resource/failure': {
    ...{ type: 'repository_clone_error', message: 'x' },
  },
  'post /v1/ext/inputs/:session_id/failure': { message: 'x' },
  'post /v1/ext/inputs/:session_id/stores/:store/contents': { paths: [] },
  'post /v1/ext/inputs/:session_id/stores/:store/changes': { changes: [] },
}

/** For each parameter, by the path that leads to it: the first tenant's, and one that never was. */
type Fixtures = Record<string, { theirs: string; never: string }>

const neverOf = (id: string): string => id.slice(0, -12) + '0'.repeat(12)

async function makeFixtures(service: Service): Promise<Fixtures> {
  const make = async (path: string, body?: object) =>
    (await service.ask('POST', path, body && { name: canary, ...body })).body.id
  const session = await newSession(service, { name: canary, system: canary })
  await turn(service, session, `say: ${canary}`)
  const threads = await service.ask('GET', `/v1/sessions/${session}/threads`)
  const card = {
    name: undefined,
    model_id: 'first-handle-000000000000',
    provider: 'walled',
    model: canary,
    api_key: 'sk-first-tenant',
    base_url: 'https://models.example',
    native_config: { api: 'openai-completions' },
  }
  const vault = await make('/v1/vaults', {})
  const beta = { 'vendor-beta': memoryBeta }
  const ofStores = async (method: string, path: string, body?: object) =>
    (await service.ask(method, `/v1/memory_stores${path}`, body, beta)).body
  const store = (await ofStores('POST', '', { name: canary })).id
  const memory = (await ofStores('POST', `/${store}/memories`, { path: '/a', content: canary })).id
  const versions = await ofStores('GET', `/${store}/memory_versions`)
  const auth = { type: 'static_bearer', token: canary, mcp_server_url: 'https://first.example' }
  const credential = { name: undefined, auth, display_name: canary }
  const file = await uploadFile(service, { name: canary, content: canary })
  const { body: resource } = await service.ask('POST', `/v1/sessions/${session}/resources`, {
    type: 'file',
    file_id: file.id,
  })
  const files = [{ filename: 'SKILL.md', content: skillText('first', canary, canary) }]
  const skill = await make('/v1/skills', { name: undefined, files })
  const environment = await make('/v1/environments', { config: { type: 'self_hosted' } })
  const agent = await make('/v1/agents', { model: 'offline', tools: [] })
  await make('/v1/sessions', { name: undefined, agent, environment_id: environment })
  const work = await service.ask('GET', `/v1/environments/${environment}/work`)
  const hook = await make('/v1/ext/webhook_endpoints', {
    name: undefined,
    url: 'https://first.example/hook',
    enabled_events: ['agent.archived'],
    description: canary,
  })
  const ids = {
    '/v1/environments/:id/work/:work': work.body.data[0]?.id ?? '',
    '/v1/files/:id': file.id,
    '/v1/sessions/:id/resources/:resource': resource.id,
    '/v1/memory_stores/:id': store,
    '/v1/memory_stores/:id/memories/:memory_id': memory,
    '/v1/memory_stores/:id/memory_versions/:version_id': versions.data[0]?.id ?? '',
    '/v1/skills/:id': skill,
    '/v1/vaults/:id': vault,
    '/v1/vaults/:id/credentials/:credential_id': await make(
      `/v1/vaults/${vault}/credentials`,
      credential,
    ),
    '/v1/agents/:id': agent,
    '/v1/environments/:id': environment,
    '/v1/sessions/:id': session,
    '/v1/ext/mcp-proxy/:session_id': session,
    '/v1/ext/model-gateway/:session_id': session,
    '/v1/ext/egress/:session_id': session,
    '/v1/ext/stdio-servers/:session_id': session,
    '/v1/ext/checkpoints/:session_id': session,
    '/v1/ext/checkpoints/:session_id/parts/:part': 'chkpt_000000000000000000',
    '/v1/ext/outputs/:session_id': session,
    '/v1/ext/inputs/:session_id': session,
    '/v1/ext/inputs/:session_id/repositories/:resource': 'sesrsc_000000000000000000',
    '/v1/ext/inputs/:session_id/files/:file': 'file_000000000000000000',
    '/v1/ext/inputs/:session_id/stores/:store': 'memstore_000000000000000000',
    '/v1/sessions/:id/threads/:thread': threads.body.data[0]?.id ?? '',
    '/v1/models/:id': card.model_id,
    '/v1/ext/model_cards/:id': await make('/v1/ext/model_cards', card),
    '/v1/ext/webhook_endpoints/:id': hook,
    '/v1/ext/webhook_endpoints/:id/deliveries/:delivery': await make(
      `/v1/ext/webhook_endpoints/${hook}/test`,
    ),
    '/v1/ext/api_keys/:id': await make('/v1/ext/api_keys', {}),
  }
  const fixtures: Fixtures = { '/v1/agents/:id/versions/:version': { theirs: '1', never: '1' } }
  for (const [path, id] of Object.entries(ids)) fixtures[path] = { theirs: id, never: neverOf(id) }
  fixtures['/v1/skills/:id/versions/:version'] = { theirs: 'latest', never: 'latest' }
  fixtures['/v1/skills/:id/files/:filename'] = { theirs: 'SKILL.md', never: 'SKILL.md' }
  const server = '/v1/ext/mcp-proxy/:session_id/:server_name'
  fixtures[server] = { theirs: 'a-server-of-the-first', never: 'a-server-that-never-was' }
  for (const output of ['/v1/sessions/:id', '/v1/ext/outputs/:session_id'])
    fixtures[`${output.replace(':id', ':id/outputs')}/:filename`] = {
      ...{ theirs: 'output-of-the-first', never: 'output-that-never-was' },
    }
  fixtures['/v1/models/:id'] = { theirs: card.model_id, never: 'never-handle-000000000000' }
  return fixtures
}

/** The route's path with one of the two ids in each place. */
function fill(path: string, fixtures: Fixtures, which: 'theirs' | 'never'): string {
  return path.replaceAll(/:\w+/g, (_name, offset: number) => {
    const upTo = path.slice(0, offset) + /^:\w+/.exec(path.slice(offset))?.[0]
    const fixture = fixtures[upTo]
    assert.ok(fixture, `${upTo} has no fixture: say in makeFixtures what stands there`)
    return fixture[which]
  })
}

function bodyOf(route: Route): object | undefined {
  if (!route.body) return undefined
  const body = bodies[`${route.method} ${route.path}`] ?? {}
  const why = `${route.method} ${route.path}: say in bodies what is a valid one`
  assert.ok(route.path.includes(':') ? route.body.safeParse(body).success : true, why)
  return body
}

const changing = /"(duration_seconds|request_id)":[^,}]+/g

/** Deliveries without the attempts, which the service makes by itself meanwhile: nobody listens at the endpoint. */
const withoutAttempts = (deliveries: string): string =>
  JSON.stringify(JSON.parse(deliveries), (key, value: unknown) =>
    key === 'attempts' || key === 'next_attempt_at' ? undefined : value,
  )

for (const database of databases) {
  describe(`isolation on ${database}`, () => {
    let service: Service
    let routes: Route[]
    let fixtures: Fixtures
    let stranger: { 'x-api-key': string }
    before(async () => {
      service = await boot(database)
      routes = routesOver(service.database)
      fixtures = await makeFixtures(service)
      stranger = { 'x-api-key': (await service.otherWorkspace('second')).key }
    })
    after(() => service.close())

    async function call(route: Route, path: string, headers: Record<string, string>) {
      const { method } = route
      const answer = await service.raw(method.toUpperCase(), path, bodyOf(route), {
        'vendor-beta': memoryBeta,
        ...headers,
      })
      const type = answer.headers.get('content-type')
      if (type?.startsWith('text/event-stream')) await answer.body?.cancel()
      const text = type?.startsWith('text/event-stream') ? 'a stream' : await answer.text()
      return { status: answer.status, text, headers: answer.headers }
    }

    verifies(
      [
        'auth/required',
        'auth/missing',
        'auth/environment-key/nothing-else',
        'auth/kinds-per-route',
      ],
      'no route opens without a workspace key',
      async () => {
        const environment_id = fixtures['/v1/environments/:id']?.theirs
        const made = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', {
          name: 'pool',
          environment_id,
        })
        const environmentKey = made.body.key
        assert.match(environmentKey, /^stw_env_/)
        const far = { name: 'far', environment_id, reach: 'sessions' }
        const { key: reachingKey } = (
          await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', far)
        ).body
        const grant = mcpTokens(derivedKey(rootSecret, 'mcp token')).mint({
          tenant: 'wrkspc_other',
          session: fixtures['/v1/sessions/:id']?.theirs ?? '',
          server: 'another',
          expiresAt: Date.now() + 60_000,
        })
        const claim = `stw_claim_${'0'.repeat(40)}`
        const credentials: Record<string, string>[] = [
          { 'x-api-key': '' },
          { 'x-api-key': 'garbage' },
          { 'x-api-key': `stw_key_${'0'.repeat(40)}` },
          { 'x-api-key': '', authorization: 'Bearer garbage' },
          { 'x-api-key': '', authorization: 'Bearer' },
          { 'x-api-key': environmentKey },
          { 'x-api-key': '', authorization: `Bearer ${environmentKey}` },
          { 'x-api-key': reachingKey },
          { 'x-api-key': '', authorization: `Bearer ${reachingKey}` },
          { 'x-api-key': claim },
          { 'x-api-key': '', authorization: `Bearer ${claim}` },
          { 'x-api-key': '', authorization: `Bearer stw_mcp_${'0'.repeat(60)}.${'0'.repeat(43)}` },
          { 'x-api-key': '', authorization: `Bearer ${grant}` },
          { 'x-api-key': grant },
        ]
        for (const route of routes) {
          if (route.callers.includes('anyone')) continue
          for (const headers of credentials) {
            const admitted = [environmentKey, reachingKey].some(
              (key) => headers['authorization'] === `Bearer ${key}`,
            )
            if (admitted && route.callers.includes('environment')) continue
            const path = fill(route.path, fixtures, 'theirs')
            const { status, text } = await call(route, path, headers)
            const told = `${route.method} ${path} with ${JSON.stringify(headers)}: ${text}`
            assert.equal(status, 401, told)
            assert.ok(!text.includes(canary))
          }
        }
      },
    )

    verifies(
      ['ids/foreign', 'service/tenants/isolated', 'auth/model-card-key', 'model-cards/key'],
      "another tenant's id is answered byte for byte like one that never was",
      async () => {
        const before = await everything()
        for (const route of routes.filter(({ path }) => path.includes(':'))) {
          const theirs = fill(route.path, fixtures, 'theirs')
          const never = fill(route.path, fixtures, 'never')
          const foreign = await call(route, theirs, stranger)
          const absent = await call(route, never, stranger)
          const name = `${route.method} ${route.path}`
          const reaches = route.callers.includes('workspace') || route.callers.includes('admin')
          assert.equal(foreign.status, reaches ? 404 : 403, `${name}: ${foreign.text}`)
          assert.equal(plain(foreign), plain(absent), name)
        }
        assert.equal(await everything(), before)
      },
    )

    verifies(
      ['service/tenants/isolated', 'auth/model-card-key'],
      "the card's key is told to nobody, to its owner and an environment key neither",
      async () => {
        const path = fill('/v1/ext/model_cards/:id/key', fixtures, 'theirs')
        assert.equal((await service.ask('GET', path)).status, 404)
        const environment_id = fixtures['/v1/environments/:id']?.theirs
        const pool = { name: 'pool', environment_id }
        const made = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', pool)
        const headers = { 'x-api-key': '', authorization: `Bearer ${made.body.key}` }
        assert.equal((await service.ask('GET', path, undefined, headers)).status, 404)
      },
    )

    it('ids of another tenant inside a body are like those that never were', async () => {
      const [agent, place] = [fixtures['/v1/agents/:id'], fixtures['/v1/environments/:id']]
      const file = fixtures['/v1/files/:id']
      assert.ok(agent && place && file)
      const own = async (path: string, body: object) =>
        (await service.ask('POST', path, { name: 'own', ...body }, stranger)).body.id
      const ownAgent = await own('/v1/agents', { model: 'offline', tools: [] })
      const ownPlace = await own('/v1/environments', {})
      const ownSession = await own('/v1/sessions', {
        name: undefined,
        agent: ownAgent,
        environment_id: ownPlace,
      })
      const vault = fixtures['/v1/vaults/:id']
      const credential = fixtures['/v1/vaults/:id/credentials/:credential_id']
      assert.ok(vault && credential)
      const ownVault = await own('/v1/vaults', {})
      const inSession = { agent: ownAgent, environment_id: ownPlace }
      const auth = { type: 'cap_cli', cli_id: 'gh', token: 'x' }
      const pairs: [string, (which: 'theirs' | 'never') => object][] = [
        ['/v1/sessions', (which) => ({ ...inSession, vault_ids: [ownVault, vault[which]] })],
        [`/v1/vaults/${ownVault}`, (which) => ({ credential: { id: credential[which], auth } })],
        ['/v1/vaults', (which) => ({ name: 'n', credentials: [{ id: credential[which], auth }] })],
        ['/v1/sessions', (which) => ({ agent: agent[which], environment_id: ownPlace })],
        ['/v1/sessions', (which) => ({ agent: ownAgent, environment_id: place[which] })],
        ['/v1/ext/api_keys', (which) => ({ name: 'n', environment_id: place[which] })],
        [
          `/v1/sessions/${ownSession}/resources`,
          (which) => ({ type: 'file', file_id: file[which] }),
        ],
      ]
      for (const [path, body] of pairs) {
        const ask = (which: 'theirs' | 'never') => service.raw('POST', path, body(which), stranger)
        const [foreign, absent] = [await ask('theirs'), await ask('never')]
        assert.equal(foreign.status, 404, path)
        const shown = async (answer: Response) =>
          plain({ status: answer.status, headers: answer.headers, text: await answer.text() })
        assert.equal(await shown(foreign), await shown(absent))
      }
    })

    it('an agent of one tenant does not hold the environment of another', async () => {
      const { body } = await service.ask('POST', '/v1/environments', { name: 'to be deleted' })
      const agent = { name: 'n', model: 'offline', tools: [], environment_id: body.id }
      await service.ask('POST', '/v1/agents', agent, stranger)
      assert.equal((await service.ask('DELETE', `/v1/environments/${body.id}`)).status, 200)
    })

    verifies(
      ['service/tenants/isolated', 'lists/complete'],
      "no list shows another tenant's things",
      async () => {
        const lists = routes.filter(({ method, path }) => method === 'get' && !path.includes(':'))
        for (const route of lists) {
          const { status, text } = await call(route, `${route.path}?limit=1000`, stranger)
          assert.equal(status, 200, route.path)
          assert.ok(!text.includes(canary), route.path)
          for (const { theirs } of Object.values(fixtures)) {
            if (theirs.length > 10) assert.ok(!text.includes(theirs), `${route.path}: ${theirs}`)
          }
        }
      },
    )

    it('names may be the same in two tenants', async () => {
      const body = { name: canary }
      const path = '/v1/environments'
      assert.equal((await service.ask('POST', path, body, stranger)).status, 200)
      assert.equal((await service.ask('POST', path, body)).status, 409)
    })

    it('a stream carries its own session alone', async () => {
      const own = await newSession(service)
      const other = await newSession(service)
      await using reader = await openStream(service, `/v1/sessions/${own}/events/stream`)
      await turn(service, other, `say: ${canary}`)
      await turn(service, own, 'say: mine')
      await reader.untilType('session.status_idle')
      assert.ok(reader.frames.every(({ data }) => data['session_id'] === own))
    })

    /** Status, headers and text without what differs by its nature: the two ids, and the request's. */
    function plain(answer: { status: number; text: string; headers: Headers }): string {
      const names = ['date', 'request-id', 'keep-alive', 'content-length', 'connection']
      const headers = [...answer.headers].filter(([name]) => !names.includes(name))
      let text = JSON.stringify([answer.status, headers, answer.text])
      for (const { theirs, never } of Object.values(fixtures)) {
        if (theirs.length > 1) text = text.replaceAll(theirs, '<id>').replaceAll(never, '<id>')
      }
      return text.replaceAll(/req_\w+/g, '<request>')
    }

    /** All that the first tenant can read, to be compared. */
    async function everything(): Promise<string> {
      const texts = []
      for (const route of routes) {
        const isRead = typeof route.answer === 'object'
        if (route.method !== 'get' || !isRead) continue
        const { text } = await call(route, fill(route.path, fixtures, 'theirs'), {})
        const isDelivery = route.path.includes('/deliveries')
        texts.push((isDelivery ? withoutAttempts(text) : text).replaceAll(changing, ''))
      }
      return texts.join('\n')
    }
  })
}
