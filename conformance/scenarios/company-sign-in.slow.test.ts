import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { makeEmergencyKey } from '@steward/server/start/commands/administration.ts'
import { systemClock } from '@steward/base/time.ts'
import type { CompanyProfile, CompanyProviderStub } from '../company-provider.ts'
import { startCompanyProvider } from '../company-provider.ts'
import { identitySettings } from '../issuer.ts'
import type { PersonClient } from '../people.ts'
import { cookieOf, personAt } from '../people.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const origin = 'https://steward.example'

const approval = { type: 'user.tool_confirmation', tool_use_id: 'sevt_x', result: 'allow' }

type Members = { data: { id: string; email: string; identity_provider: string | null }[] }
type Me = { workspaces: { role: string }[] }

const ada: CompanyProfile = {
  ...{
    sub: 'ada',
    email: 'ada@acme.example',
    email_verified: true,
    name: 'Ada',
    groups: ['eng-web'],
  },
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`sign-in by the groups of a company on ${database}`, () => {
    let provider: CompanyProviderStub
    let service: TestService
    before(async () => {
      provider = await startCompanyProvider(ada)
      const rules = [
        { groups: ['eng-*'], workspace: 'default', role: 'member' },
        { groups: ['leads'], workspace: 'default', role: 'owner' },
      ]
      const okta = { ...provider.settings, rules, revoke_keys: true }
      service = await boot(database, {
        env: { PUBLIC_URL: origin, SIGN_IN_ONLY: 'provider', ...identitySettings({ okta }) },
      })
    })
    after(async () => {
      await service.close()
      await provider[Symbol.asyncDispose]()
    })

    const get = (path: string, cookie = '') =>
      fetch(service.base + path, { redirect: 'manual', headers: { cookie } })

    const signIn = () => provider.signIn(service, 'okta')

    async function person(of: CompanyProfile): Promise<PersonClient> {
      Object.assign(provider.state, { refusals: {}, profile: of })
      const answer = await signIn()
      assert.equal(answer.headers.getSetCookie().length, 1, service.logged.at(-1))
      return personAt({ ...service, base: origin }, cookieOf(answer.headers))
    }

    const role = async (client: PersonClient) =>
      (await client.ask<Me>('GET', '/v1/ext/me')).body.workspaces[0]?.role

    /** Lets the service ask the provider now, and not in some minutes. */
    const askNow = () =>
      service.database.write((tx) => tx.updateTable('provider_grants').set({ due_ms: 0 }).execute())

    verifies(
      ['identity/sign-in', 'identity/sign-in/memberships'],
      'lets in whom a group names, uninvited, and nobody else',
      async () => {
        const client = await person(ada)
        assert.equal(await role(client), 'member')
        const { body: members } = await client.ask<Members>('GET', '/v1/ext/members')
        assert.equal(members.data[0]?.identity_provider, 'okta')
        provider.state.profile = {
          ...ada,
          sub: 'eve',
          email: 'eve@acme.example',
          groups: ['sales'],
        }
        const refused = await signIn()
        assert.deepEqual(refused.headers.getSetCookie(), [])
        const { body: audit } = await service.ask('GET', '/v1/ext/audit?limit=100')
        const line = audit.data.find((each) => each['action'] === 'member.create')
        assert.deepEqual(line?.['actor'], {
          ...{ type: 'identity_provider', id: 'okta', name: provider.issuer },
        })
      },
    )

    verifies(
      'identity/sign-in/linked',
      'joins an account that is known only where the provider vouches for the address',
      async () => {
        provider.state.profile = { ...ada, sub: 'forged', email_verified: false }
        assert.deepEqual((await signIn()).headers.getSetCookie(), [])
      },
    )

    verifies(
      'identity/sign-in/by-hand',
      'keeps its memberships with the groups: people change none of them',
      async () => {
        const lead = await person({
          ...ada,
          sub: 'lea',
          email: 'lea@acme.example',
          groups: ['leads'],
        })
        const { body: members } = await lead.ask<Members>('GET', '/v1/ext/members')
        const id = members.data.find(({ email }) => email === ada.email)?.id ?? ''
        const changed = await lead.ask('POST', `/v1/ext/members/${id}`, { role: 'admin' })
        assert.equal(changed.status, 409)
        assert.match(JSON.stringify(changed.body), /okta/)
      },
    )

    verifies(
      ['identity/leavers', 'identity/sign-in/asked-anew'],
      'follows the groups: reads, writes, streams, approvals, cookies and keys end with them',
      async () => {
        const client = await person({
          ...ada,
          sub: 'bo',
          email: 'bo@acme.example',
          groups: ['leads'],
        })
        assert.equal(await role(client), 'owner')
        const made = await client.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'k' })
        provider.state.profile = { ...provider.state.profile, groups: ['eng-web'] }
        await askNow()
        await until(async () => (await role(client)) === 'member')
        const headers = { 'x-api-key': '', cookie: client.cookie, origin }
        await using stream = await openStream(service, '/v1/ext/stream', { headers })
        await stream.untilType('stream.opened')
        provider.state.profile = { ...provider.state.profile, groups: [] }
        await askNow()
        await stream.ended
        assert.equal((await client.ask('GET', '/v1/agents')).status, 403)
        const changes: [string, object][] = [
          ['/v1/environments', { name: 'x' }],
          ['/v1/sessions/sesn_x/events', { events: [approval] }],
        ]
        for (const [path, body] of changes)
          assert.equal((await client.ask('POST', path, body)).status, 403, path)
        const byKey = { 'x-api-key': made.body.key }
        assert.equal((await service.ask('GET', '/v1/agents', undefined, byKey)).status, 401)
      },
    )

    verifies(
      ['identity/leavers', 'identity/sign-in/refused'],
      'ends the sign-in of a person whom the provider no longer knows',
      async () => {
        const client = await person({ ...ada, sub: 'cy', email: 'cy@acme.example' })
        assert.equal(await role(client), 'member')
        provider.state.refusals = { token: 400 }
        await askNow()
        await until(async () => (await client.ask('GET', '/v1/ext/me')).status === 401)
        const kept = await service.database.read
          .selectFrom('members')
          .innerJoin('people', 'people.id', 'members.person_id')
          .select('members.role')
          .where('people.email', '=', 'cy@acme.example')
          .execute()
        assert.deepEqual(kept, [])
      },
    )

    verifies(
      'identity/sign-in/unanswered',
      'keeps people in while the provider does not answer, for half an hour',
      async () => {
        const client = await person({ ...ada, sub: 'di', email: 'di@acme.example' })
        provider.state.refusals = { userinfo: 503 }
        await askNow()
        await until(() => service.logged.some((line) => line.includes('did not confirm')))
        assert.equal(await role(client), 'member')
        await service.database.write((tx) =>
          tx.updateTable('provider_grants').set({ due_ms: 0, confirmed_ms: 0 }).execute(),
        )
        await until(async () => (await client.ask('GET', '/v1/ext/me')).status === 401)
      },
    )

    verifies(
      'identity/provider-alone',
      'is the only way in where the settings say so',
      async () => {
        const page = await (await get('/signin')).text()
        assert.match(page, /Sign in with Acme/)
        assert.doesNotMatch(page, /type="password"/)
        const ways: [string, object][] = [
          ['/v1/ext/auth/sign_in', { email: ada.email, password: 'correct horse battery' }],
          ['/v1/ext/auth/code', { email: ada.email }],
          ['/v1/ext/auth/sign_in/code', { email: ada.email, code: '123456' }],
          ['/v1/ext/auth/reset', { email: ada.email }],
          ['/v1/ext/auth/reset/confirm', { token: 'x', new_password: 'correct horse battery' }],
          [
            '/v1/ext/auth/invitation',
            { token: 'x', email: ada.email, name: 'Ada', password: 'correct horse battery' },
          ],
        ]
        for (const [path, body] of ways) {
          const { status, body: told } = await service.ask('POST', path, body, { 'x-api-key': '' })
          assert.equal(status, 403, path)
          assert.match(JSON.stringify(told), /provider_only/)
        }
        const client = await person({ ...ada, sub: 'ed', email: 'ed@acme.example' })
        await service.database.write((tx) =>
          tx.updateTable('sign_ins').set({ provider_id: null }).execute(),
        )
        await until(async () => (await client.ask('GET', '/v1/ext/me')).status === 401)
        assert.ok(service.logged.every((line) => !line.includes('first owner')))
      },
    )

    verifies(
      'identity/emergency-key',
      'has a way beside it: a key of an hour by command, in the audit',
      async () => {
        const deps = {
          ...{ databases: service.databases, clock: systemClock },
          ...{ github: { url: '', apiUrl: '' }, dialAsServer: async () => {} },
        }
        const made = await makeEmergencyKey(deps, 'default')
        const lasts = Date.parse(made.expires_at) - Date.now()
        assert.ok(lasts > 3_500_000 && lasts <= 3_600_000)
        const headers = { 'x-api-key': made.key }
        const keys = await service.ask('GET', '/v1/organizations/api_keys', undefined, headers)
        assert.equal(keys.status, 200)
      },
    )

    verifies('identity/sign-in/tokens', 'keeps tokens of providers sealed alone', async () => {
      await person(ada)
      const rows = await service.database.read.selectFrom('provider_grants').selectAll().execute()
      assert.ok(rows.length > 0)
      const { issued } = provider.state
      assert.ok(issued.length > 1)
      for (const line of [...service.logged, JSON.stringify(rows)])
        for (const token of issued) assert.ok(!line.includes(token))
      for (const { sealed_tokens } of rows)
        assert.match(sealed_tokens, /^\{"access":"v1\.[^"]+","refresh":"v1\.[^"]+"\}$/)
    })
  })
}
