/** Walks every declared route as somebody who must not get anywhere. A new route is walked without a change here. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { allRoutesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { derivedKey } from '@steward/server/ground/core/security/signed-tokens.ts'
import { mcpTokens } from '@steward/server/ground/core/security/mcp-token.ts'
import type { Role } from '@steward/server/ground/core/security/roles.ts'
import { roles } from '@steward/server/ground/core/security/roles.ts'
import type { Route } from '@steward/server/ground/http/route.ts'
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { identitySettings, tokenHeaders } from './issuer.ts'
import type { TestService } from './service.ts'
import { boot, rootSecret, scenarioDatabases } from './service.ts'
import { openStream } from './reader.ts'
import type { PathFixtures } from './isolation-paths.ts'
import {
  bodyOf,
  canary,
  fill,
  makeFixtures,
  memoryBeta,
  queryOf,
  isOpenTo,
  opens,
  isReading,
} from './isolation-paths.ts'
import { logIn } from './oauth.ts'
import type { PersonClient } from './people.ts'
import { accept } from './people.ts'
import { newSession, turn } from './turns.ts'
import { verifies } from './verifies.ts'

const changing = /"(duration_seconds|request_id|since)":[^,}]+/g

type AuditPage = { data: { action: string }[] }

/** The audit without the effects of jobs: the chain of its lines, and the number of events posted in a minute. */
function withoutJobs(lines: string): string {
  const { data, ...rest } = JSON.parse(lines) as AuditPage
  const kept = data.filter(({ action }) => action !== 'session.post')
  return JSON.stringify({ data: kept, ...rest }).replaceAll(/"(seq|hash|first_id)":[^,}]+/g, '')
}

/**
 * Only the ids of the deliveries: their endpoint does not exist, so each attempt of the service changes the other
 * fields.
 */
const withoutAttempts = (deliveries: string): string =>
  [...deliveries.matchAll(/"id":"whdel_\w+"/g)].join(' ')

const judged = (file_id: string) => ({
  ...{ type: 'user.define_outcome', description: 'd', rubric: { type: 'file', file_id } },
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`isolation on ${database}`, () => {
    let service: TestService
    let routes: Route[]
    let fixtures: PathFixtures
    let stranger: { 'x-api-key': string }
    let issuers: Record<string, TestIssuer>
    /** People of the second workspace, one of each role. */
    let people: Map<Role, PersonClient>
    before(async () => {
      // A session whose work is not claimed gets an event after a while. That event would change the compared data.
      const [okta, ci] = [await startIssuer(), await startIssuer()]
      issuers = { okta, ci }
      const of = ({ issuer }: TestIssuer, condition: (role: Role) => object) => ({
        ...{ issuer, audience: 'steward' },
        rules: roles.map((role) => ({ ...condition(role), workspace: 'second', role })),
      })
      const providers = {
        okta: of(okta, (role) => ({ groups: [role] })),
        ci: { ...of(ci, (role) => ({ claims: { job: role } })), jwks_uri: `${ci.issuer}/keys` },
      }
      const env = {
        WORK_UNCLAIMED_SECONDS: '86400',
        MESSAGES_API: 'true',
        ...identitySettings(providers),
      }
      service = await boot(database, { env })
      routes = allRoutesOver(service.database)
      fixtures = await makeFixtures(service)
      const second = await service.otherWorkspace('second')
      stranger = { 'x-api-key': second.key }
      people = new Map()
      for (const role of roles) {
        const token = await service.invite(second.workspace, role)
        people.set(role, await accept(service, token, { email: `${role}@second.example` }))
      }
    })
    after(async () => {
      await service.close()
      for (const issuer of Object.values(issuers)) await issuer[Symbol.asyncDispose]()
    })

    async function call(route: Route, path: string, headers: Record<string, string>) {
      const { method } = route
      const answer = await service.raw(method.toUpperCase(), path + queryOf(route), bodyOf(route), {
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
        for (const route of routes.filter(({ path }) => /:\w+(?!.*\{)/.test(path))) {
          const theirs = fill(route.path, fixtures, 'theirs')
          const never = fill(route.path, fixtures, 'never')
          const foreign = await call(route, theirs, stranger)
          const absent = await call(route, never, stranger)
          const name = `${route.method} ${route.path}`
          const reaches = ['workspace', 'admin', 'anyone'].some((caller) =>
            route.callers.some((each) => each === caller),
          )
          assert.equal(foreign.status, reaches ? 404 : 403, `${name}: ${foreign.text}`)
          assert.equal(plain(foreign), plain(absent), name)
        }
        assert.deepEqual(await everything(), before)
      },
    )

    verifies(
      ['service/tenants/isolated', 'auth/model-card-key'],
      'nobody reads the key of a card, not even its owner or an environment key',
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
      const [agent, setup] = [fixtures['/v1/agents/:id'], fixtures['/v1/environments/:id']]
      const file = fixtures['/v1/files/:id']
      assert.ok(agent && setup && file)
      const own = async (path: string, body: object) =>
        (await service.ask('POST', path, { name: 'own', ...body }, stranger)).body.id
      const ownAgent = await own('/v1/agents', { model: 'offline', tools: [] })
      const ownTarget = await own('/v1/environments', {})
      const ownSession = await own('/v1/sessions', {
        name: undefined,
        agent: ownAgent,
        environment_id: ownTarget,
      })
      const vault = fixtures['/v1/vaults/:id']
      const credential = fixtures['/v1/vaults/:id/credentials/:credential_id']
      assert.ok(vault && credential)
      const ownVault = await own('/v1/vaults', {})
      const inSession = { agent: ownAgent, environment_id: ownTarget }
      const auth = { type: 'cap_cli', cli_id: 'gh', token: 'x' }
      const pairs: [string, (which: 'theirs' | 'never') => object][] = [
        ['/v1/sessions', (which) => ({ ...inSession, vault_ids: [ownVault, vault[which]] })],
        [`/v1/vaults/${ownVault}`, (which) => ({ credential: { id: credential[which], auth } })],
        ['/v1/vaults', (which) => ({ name: 'n', credentials: [{ id: credential[which], auth }] })],
        ['/v1/sessions', (which) => ({ agent: agent[which], environment_id: ownTarget })],
        ['/v1/sessions', (which) => ({ agent: ownAgent, environment_id: setup[which] })],
        ['/v1/ext/api_keys', (which) => ({ name: 'n', environment_id: setup[which] })],
        [`/v1/ext/sessions/${ownSession}/fork`, (which) => ({ agent: agent[which] })],
        [`/v1/sessions/${ownSession}/events`, (which) => ({ events: [judged(file[which])] })],
        [
          `/v1/sessions/${ownSession}/resources`,
          (which) => ({ type: 'file', file_id: file[which] }),
        ],
      ]
      const skill = fixtures['/v1/skills/:id']
      assert.ok(skill)
      const hosted = { type: 'openai_hosted' }
      const network = { access: 'disabled' }
      const sessions: ((which: 'theirs' | 'never') => object)[] = [
        (which) => ({ agent_id: agent[which] }),
        (which) => ({ environment: { ...hosted, environment_id: setup[which] } }),
        (which) => ({ environment: { ...hosted, environment_id: setup[which], network } }),
        (which) => ({ vault_ids: [ownVault, vault[which]] }),
        (which) => ({
          environment: {
            ...hosted,
            files: [{ type: 'file_id', file_id: file[which], path: '/workspace/x' }],
          },
        }),
        (which) => ({
          environment: {
            ...hosted,
            skills: [{ type: 'skill_reference', skill_id: skill[which] }],
          },
        }),
      ]
      for (const body of sessions) {
        const whole = (which: 'theirs' | 'never') => ({
          ...{ agent: { model: 'offline' }, environment: hosted },
          ...body(which),
        })
        pairs.push(['/openai/v1/agents/sessions', whole])
      }
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
        const lists = routes.filter(
          ({ method, path, callers, answer }) =>
            method === 'get' &&
            answer !== 'stream' &&
            /^\/[^:]+$/.test(path) &&
            callers.some((caller) => ['anyone', 'workspace', 'admin'].includes(caller)),
        )
        for (const route of lists) {
          const query = route.answer === 'bytes' ? '' : '?limit=100'
          const { status, text } = await call(route, route.path + query, stranger)
          // A page may need to know what it is about.
          assert.ok(status === 200 || (route.isPage && status === 400), `${route.path}: ${status}`)
          assert.ok(!text.includes(canary), route.path)
          for (const { theirs } of Object.values(fixtures)) {
            if (theirs.length > 10) assert.ok(!text.includes(theirs), `${route.path}: ${theirs}`)
          }
        }
      },
    )

    verifies(
      ['auth/roles/viewer', 'auth/roles/member', 'auth/roles/admin', 'auth/roles/owner'],
      'a person opens what the row of the role says and nothing else, and of another tenant nothing',
      async () => {
        const before = await everything()
        for (const [role, person] of people) {
          for (const route of routes) {
            if (route.callers.includes('anyone')) continue
            const isOpen = isOpenTo(role, route)
            const isChange = route.method !== 'get'
            if (isOpen && isChange && !route.path.includes(':')) continue
            const headers = { 'x-api-key': '', cookie: person.cookie, origin: service.base }
            const theirs = await call(route, fill(route.path, fixtures, 'theirs'), headers)
            const never = await call(route, fill(route.path, fixtures, 'never'), headers)
            const name = `${role}: ${route.method} ${route.path}: ${theirs.text}`
            const isOfOne = route.path.includes(':')
            assert.equal(theirs.status, isOpen ? (isOfOne ? 404 : 200) : 403, name)
            if (isOfOne) assert.equal(plain(theirs), plain(never), name)
            assert.ok(!theirs.text.includes(canary), name)
          }
        }
        assert.deepEqual(await everything(), before)
      },
    )

    verifies(
      'logins/live-role',
      'a login opens what the role of its person opens, and nothing that is for people',
      async () => {
        const before = await everything()
        for (const [role, person] of people) {
          const { body } = await person.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
          const { access_token } = await logIn(service.base, person, body.active_workspace_id)
          const headers = { 'x-api-key': '', authorization: `Bearer ${access_token}` }
          for (const route of routes) {
            if (route.callers.includes('anyone')) continue
            const isOpen = opens(role, route)
            const isOfOne = route.path.includes(':')
            if (isOpen && route.method !== 'get' && !isOfOne) continue
            const theirs = await call(route, fill(route.path, fixtures, 'theirs'), headers)
            const never = await call(route, fill(route.path, fixtures, 'never'), headers)
            const name = `${role}: ${route.method} ${route.path}: ${theirs.text}`
            assert.equal(theirs.status, isOpen ? (isOfOne ? 404 : 200) : 403, name)
            if (isOfOne) assert.equal(plain(theirs), plain(never), name)
            assert.ok(!theirs.text.includes(canary), name)
          }
        }
        assert.deepEqual(await everything(), before)
      },
    )

    verifies(
      ['identity/tokens/roles', 'reviewer/reads', 'reviewer/nothing-else', 'auth/roles/reviewer'],
      'a token opens what the table of permissions gives its role and nothing else, and of another tenant nothing',
      async () => {
        const before = await everything()
        const callers = Object.entries(issuers).flatMap(([name, issuer]) =>
          roles.map((role) => ({ name, issuer, role })),
        )
        for (const { name: of, issuer, role } of callers) {
          const headers = await tokenHeaders(issuer, { sub: role, groups: [role], job: role })
          for (const route of routes) {
            if (route.callers.includes('anyone')) continue
            const isOfOne = route.path.includes(':')
            const isOpen = opens(role, route)
            if (isOpen && route.method !== 'get' && !isOfOne) continue
            const theirs = await call(route, fill(route.path, fixtures, 'theirs'), headers)
            const name = `token of ${of}, ${role}: ${route.method} ${route.path}: ${theirs.text}`
            assert.equal(theirs.status, isOpen ? (isOfOne ? 404 : 200) : 403, name)
            assert.ok(!theirs.text.includes(canary), name)
          }
        }
        assert.deepEqual(await everything(), before)
      },
    )

    verifies(
      'auth/cookie/origin',
      'no change is made with a cookie for a page of another origin, or of none',
      async () => {
        const cookie = people.get('owner')?.cookie ?? ''
        for (const route of routes) {
          if (route.callers.includes('anyone') || route.method === 'get') continue
          for (const origin of ['https://evil.example', 'null', undefined]) {
            const headers = { 'x-api-key': '', cookie, ...(origin && { origin }) }
            const { status, text } = await call(
              route,
              fill(route.path, fixtures, 'theirs'),
              headers,
            )
            assert.equal(status, 403, `${route.method} ${route.path} from ${origin}: ${text}`)
            assert.match(text, /Origin/)
          }
        }
      },
    )

    verifies(
      'api-keys/field/read-only',
      'a key that only reads makes no change over any route, and asks no upstream',
      async () => {
        const made = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', {
          ...{ name: 'reads', read_only: true },
        })
        const headers = { 'x-api-key': made.body.key }
        for (const route of routes) {
          if (route.callers.includes('anyone') || isReading(route)) continue
          const path = fill(route.path, fixtures, 'theirs')
          const { status, text } = await call(route, path, headers)
          assert.equal(status, 403, `${route.method} ${path}: ${text}`)
        }
        assert.equal(
          (await service.ask('GET', '/openai/v1/agents', undefined, headers)).status,
          200,
        )
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

    /** The answer without the parts that always differ: the two ids, the request id, and headers such as the date. */
    function plain(answer: { status: number; text: string; headers: Headers }): string {
      const names = ['date', 'request-id', 'keep-alive', 'content-length', 'connection']
      const headers = [...answer.headers].filter(([name]) => !names.includes(name))
      let text = JSON.stringify([answer.status, headers, answer.text])
      for (const { theirs, never } of Object.values(fixtures)) {
        if (theirs.length > 1) text = text.replaceAll(theirs, '<id>').replaceAll(never, '<id>')
      }
      return text.replaceAll(/req_\w+/g, '<request>')
    }

    /** All that the first tenant can read by route, to be compared. */
    async function everything(): Promise<Record<string, string>> {
      const texts: Record<string, string> = {}
      for (const route of routes) {
        const isRead = typeof route.answer === 'object'
        if (route.method !== 'get' || !isRead) continue
        const path = fill(route.path, fixtures, 'theirs')
        const isAudit = path === '/v1/ext/audit'
        const { text } = await call(route, isAudit ? `${path}?limit=1000` : path, {})
        const isDelivery = route.path.includes('/deliveries')
        const kept = isDelivery ? withoutAttempts(text) : text
        texts[route.path] = (isAudit ? withoutJobs(kept) : kept).replaceAll(changing, '')
      }
      return texts
    }
  })
}
