import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { MutableResponse } from 'oauth2-mock-server'
import { Events, OAuth2Server } from 'oauth2-mock-server'
import type { PersonClient } from '../people.ts'
import { accept, cookieOf, firstLink, personAt } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

type ProviderProfile = { sub: string; email: string; email_verified: boolean; name: string }

const origin = 'https://steward.example'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`identity providers on ${database}`, () => {
    const provider = new OAuth2Server()
    let service: TestService
    let owner: PersonClient
    let profile: ProviderProfile
    before(async () => {
      await provider.issuer.keys.generate('RS256')
      await provider.start(0, '127.0.0.1')
      provider.service.on(Events.BeforeUserinfo, (answer: MutableResponse) => {
        answer.body = profile
      })
      const at = `http://127.0.0.1:${provider.address().port}`
      service = await boot(database, {
        env: {
          PUBLIC_URL: origin,
          SIGN_IN_OIDC_CLIENT_ID: 'steward',
          SIGN_IN_OIDC_CLIENT_SECRET: 'a secret of the client',
          SIGN_IN_OIDC_AUTHORIZE_URL: `${at}/authorize`,
          SIGN_IN_OIDC_TOKEN_URL: `${at}/token`,
          SIGN_IN_OIDC_USERINFO_URL: `${at}/userinfo`,
          SIGN_IN_GITHUB_CLIENT_ID: 'at-github',
          SIGN_IN_GITHUB_CLIENT_SECRET: 'another secret',
        },
      })
      const person = await accept(service, firstLink(service), { email: 'ada@example.com' })
      owner = personAt({ ...service, base: origin }, person.cookie)
    })
    after(async () => {
      await service.close()
      await provider.stop()
    })

    const get = (path: string, cookie = '') =>
      fetch(service.base + path, { redirect: 'manual', headers: { cookie } })

    /**
     * Goes to the provider and back. Returns the provider's address, the callback that the browser opens next, and its
     * cookie.
     */
    async function throughProvider(returnTo = '/docs') {
      const query = new URLSearchParams({ return_to: returnTo })
      const started = await get(`/v1/ext/oauth/oidc/authorize?${query.toString()}`)
      assert.equal(started.status, 302, await started.text())
      const asked = new URL(started.headers.get('location') ?? '')
      const back = await fetch(asked, { redirect: 'manual' })
      const callback = new URL(back.headers.get('location') ?? '')
      assert.equal(callback.origin + callback.pathname, `${origin}/v1/ext/oauth/oidc/callback`)
      return { asked, callback, cookie: cookieOf(started.headers) }
    }

    const come = ({ callback, cookie }: { callback: URL; cookie: string }) =>
      get(callback.pathname + callback.search, cookie)

    const invite = (email: string) =>
      owner.ask<{ id: string }>('POST', '/v1/ext/invitations', { email, role: 'member' })

    verifies(
      ['oauth/authorize', 'oauth/callback', 'auth/cookie/sign-in', 'settings/sign-in'],
      'an invited person signs in by PKCE, with a state that holds once',
      async () => {
        await invite('bea@example.com')
        profile = { sub: '1', email: 'bea@example.com', email_verified: true, name: 'Bea' }
        const way = await throughProvider()
        assert.equal(way.asked.searchParams.get('code_challenge_method'), 'S256')
        assert.ok(!way.asked.href.includes('a%20secret'))
        const answer = await come(way)
        assert.equal(answer.headers.get('location'), '/docs')
        const bea = personAt({ ...service, base: origin }, cookieOf(answer.headers))
        assert.match(bea.cookie, /^__Host-steward_session=/)
        assert.equal((await bea.ask('GET', '/v1/agents')).status, 200)
        const me = await bea.ask<{ workspaces: { role: string }[] }>('GET', '/v1/ext/me')
        assert.equal(me.body.workspaces[0]?.role, 'member')

        const replayed = await come(way)
        assert.match(replayed.headers.get('location') ?? '', /\/signin\?error=/)
        assert.deepEqual(replayed.headers.getSetCookie(), [])
        assert.equal((await come(await throughProvider())).headers.getSetCookie().length, 1)
      },
    )

    verifies('oauth/state', 'a state of another browser or of nobody signs nobody in', async () => {
      const way = await throughProvider()
      const other = await throughProvider()
      const forged = new URL(way.callback)
      forged.searchParams.set('state', 'A'.repeat(32))
      for (const each of [
        { ...way, cookie: '' },
        { ...way, cookie: other.cookie },
        { ...way, callback: forged },
      ]) {
        const answer = await come(each)
        assert.match(answer.headers.get('location') ?? '', /\/signin\?error=/)
        assert.deepEqual(answer.headers.getSetCookie(), [])
      }
    })

    verifies(
      'oauth/state',
      'a state holds at the provider for which it was made alone',
      async () => {
        const started = await get('/v1/ext/oauth/github/authorize')
        const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
        const callback = new URL(`${origin}/v1/ext/oauth/oidc/callback?code=stolen&state=${state}`)
        const answer = await come({ callback, cookie: cookieOf(started.headers) })
        assert.match(answer.headers.get('location') ?? '', /\/signin\?error=state_mismatch/)
        assert.deepEqual(answer.headers.getSetCookie(), [])
      },
    )

    verifies(
      'oauth/answers',
      'an answer of a provider that is not understood is shown as an error',
      async () => {
        await invite('dan@example.com')
        const good = { sub: '9', email: 'dan@example.com', email_verified: true, name: 'Dan' }
        for (const bad of [{ email_verified: 1 }, { email: 7 }, { sub: {} }, { name: [] }]) {
          profile = Object.assign({}, good, bad)
          const { headers } = await come(await throughProvider())
          const location = headers.get('location') ?? ''
          assert.match(location, /\/signin\?error=/, JSON.stringify(bad))
          const page = await (
            await get(new URL(location, origin).pathname + new URL(location, origin).search)
          ).text()
          assert.match(page, /role="alert"/)
          assert.deepEqual(headers.getSetCookie(), [])
        }
        assert.ok(service.logged.some((line) => line.includes('did not say who a person is')))
      },
    )

    verifies(
      'oauth/uninvited',
      'nobody comes in uninvited, or with an address that the provider does not vouch for',
      async () => {
        profile = { sub: '2', email: 'eve@example.com', email_verified: true, name: 'Eve' }
        const uninvited = await come(await throughProvider())
        assert.deepEqual(uninvited.headers.getSetCookie(), [])
        await invite('cy@example.com')
        profile = { sub: '3', email: 'cy@example.com', email_verified: false, name: 'Cy' }
        assert.deepEqual((await come(await throughProvider())).headers.getSetCookie(), [])
        profile = { sub: '4', email: 'ada@example.com', email_verified: false, name: 'Ada' }
        assert.deepEqual((await come(await throughProvider())).headers.getSetCookie(), [])
        profile = { ...profile, email_verified: true }
        const linked = await come(await throughProvider())
        const ada = personAt({ ...service, base: origin }, cookieOf(linked.headers))
        const me = await ada.ask<{ user: { email: string } }>('GET', '/v1/ext/me')
        assert.equal(me.body.user.email, 'ada@example.com')
      },
    )

    verifies('oauth/return-to', 'the browser goes to paths of this service alone', async () => {
      const others = [
        ...['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil', 'x'],
        ...['/%5cevil.example', '/%2f%2fevil.example', '/%2Fevil.example'],
      ]
      for (const to of others) {
        const path = `/v1/ext/oauth/oidc/authorize?return_to=${encodeURIComponent(to)}`
        assert.equal((await get(path)).status, 400, to)
      }
    })

    verifies(
      'oauth/providers',
      'presets have their endpoints, and others do not exist',
      async () => {
        const github = await get('/v1/ext/oauth/github/authorize')
        assert.match(github.headers.get('location') ?? '', /^https:\/\/github\.com\/login\/oauth/)
        assert.equal((await get('/v1/ext/oauth/google/authorize')).status, 404)
        assert.equal((await get('/v1/ext/oauth/constructor/callback')).status, 404)
      },
    )

    verifies('oauth/tokens', "nothing keeps a provider's tokens", async () => {
      const kept = await service.database.read.selectFrom('sign_in_accounts').selectAll().execute()
      assert.ok(kept.some((row) => row.provider_id === 'oidc'))
      assert.ok(!/eyJ/.test(JSON.stringify(kept)))
    })
  })
}
