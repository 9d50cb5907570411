import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { CompanyProviderStub } from '../company-provider.ts'
import { startCompanyProvider } from '../company-provider.ts'
import { identitySettings } from '../issuer.ts'
import { logIn, refreshed } from '../oauth.ts'
import { cookieOf, personAt } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const origin = 'https://steward.example'
const ada = {
  sub: 'ada',
  email: 'ada@acme.example',
  email_verified: true,
  name: 'Ada',
  groups: ['eng'],
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the logins of people by groups, on ${database}`, () => {
    let provider: CompanyProviderStub
    let service: TestService
    before(async () => {
      provider = await startCompanyProvider(ada)
      const rules = [{ groups: ['eng'], workspace: 'default', role: 'member' }]
      const okta = { ...provider.settings, rules }
      const env = { PUBLIC_URL: origin, SIGN_IN_ONLY: 'provider', ...identitySettings({ okta }) }
      service = await boot(database, { env })
    })
    after(async () => {
      await service.close()
      await provider[Symbol.asyncDispose]()
    })

    verifies(
      ['logins/groups', 'logins/ends'],
      'end with the group, also long after the person has closed the browser',
      async () => {
        const answer = await provider.signIn(service, 'okta')
        const person = personAt({ ...service, base: origin }, cookieOf(answer.headers))
        const workspace = (await service.ask('GET', '/v1/organizations/me')).body.id
        const login = await logIn(service.base, person, workspace, origin)
        const bearer = (token: string) => ({ 'x-api-key': '', authorization: `Bearer ${token}` })
        const statusWith = async (token: string) =>
          (await service.ask('GET', '/v1/agents', undefined, bearer(token))).status
        await service.database.write(async (tx) => {
          await tx.deleteFrom('sign_ins').execute()
          // As for somebody who is away: the provider is asked in an hour.
          await tx
            .updateTable('provider_grants')
            .set({ due_ms: Date.now() + 3_600_000 })
            .execute()
        })
        const { body } = await refreshed(service.base, login.refresh_token)
        assert.equal(await statusWith(body.access_token), 200)
        provider.state.profile = { ...ada, groups: [] }
        await until(async () => (await statusWith(body.access_token)) === 401)
        assert.equal(
          (await refreshed(service.base, body.refresh_token)).body.error,
          'invalid_grant',
        )
      },
    )
  })
}
