import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { LoginScene } from '../oauth.ts'
import {
  bootForLogins,
  browserOf,
  decide,
  newLoginRequest,
  officialClientId,
  tokenRequest,
  tool,
} from '../oauth.ts'
import { scenarioDatabases } from '../service.ts'
import type { LooseBody } from '../service.ts'
import { verifies } from '../verifies.ts'

const minute = 60_000

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the consent to a login on ${database}`, () => {
    let scene: LoginScene
    before(async () => void (scene = await bootForLogins(database)))
    after(() => scene.service.close())

    const exchange = (code: string, verifier: string, change: Record<string, string> = {}) =>
      tokenRequest(scene.service.base, {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        client_id: officialClientId,
        redirect_uri: 'http://localhost:61234/callback',
        ...change,
      })

    verifies(
      ['logins/authorize', 'logins/token', 'logins/pkce', 'logins/access-token'],
      'a person lets the command line of the official client log in',
      async () => {
        const { service, workspace, owner, pass, bearer, statusWith, endAll } = scene
        const { verifier, request, search } = newLoginRequest()
        const path = `/oauth/authorize?${search}`
        const stranger = await fetch(service.base + path, { redirect: 'manual' })
        const back = `/signin?return_to=${encodeURIComponent(path)}`
        assert.equal(stranger.headers.get('location'), back)
        const browser = browserOf(service.base, owner)
        const page = await browser.go(path)
        assert.match(page.text, /<strong>Anthropic CLI<\/strong> asks to act for you, Olga/)
        assert.match(page.text, /Allow in default \(owner\)/)
        const policy = page.headers.get('content-security-policy') ?? ''
        assert.match(policy, /form-action 'self' http:\/\/localhost:61234;/)
        assert.ok(!page.text.includes('<script'))
        const at = await decide(browser, search, { workspace_id: workspace })
        assert.equal(at.origin + at.pathname, request.redirect_uri)
        assert.equal(at.searchParams.get('state'), request.state)
        assert.equal(at.searchParams.get('iss'), service.base)
        const { status, body, headers } = await exchange(
          at.searchParams.get('code') ?? '',
          verifier,
        )
        assert.equal(status, 200)
        assert.equal(headers.get('cache-control'), 'no-store')
        assert.match(body.access_token, /^stw_at_/)
        assert.equal(body.expires_in, 3600)
        assert.equal(body.token_type, 'Bearer')
        assert.equal(body.account?.email_address, 'owner@example.com')
        assert.equal(body.workspace.id, workspace)
        assert.equal(await statusWith(body.access_token), 200)
        const asKey = { 'x-api-key': body.access_token }
        assert.equal((await service.ask('GET', '/v1/agents', undefined, asKey)).status, 401)
        assert.equal(await statusWith(body.refresh_token), 401)
        const { body: me } = await service.ask<LooseBody & { user: { email: string } }>(
          'GET',
          '/v1/ext/me',
          undefined,
          bearer(body.access_token),
        )
        assert.equal(me.user.email, 'owner@example.com')
        pass(60 * minute)
        assert.equal(await statusWith(body.access_token), 401)
        await endAll()
      },
    )

    verifies(
      ['logins/redirects', 'logins/clients', 'logins/errors'],
      'no code goes to an address that is not the client’s own',
      async () => {
        const { service, workspace, owner, endAll } = scene
        const browser = browserOf(service.base, owner)
        const foreign = [
          'https://evil.example/callback',
          'http://localhost.evil.example/callback',
          'http://localhost:1@evil.example/callback',
          'http://person@localhost:61234/callback',
          'https://localhost:61234/callback',
          'http://127.0.0.2:61234/callback',
          `${service.base}/oauth/code/callback/../../../v1`,
          `${service.base}/signin`,
          'javascript:alert(1)',
          '',
          tool.redirect,
        ].filter((uri) => !uri.startsWith(`${service.base}/signin`) && !uri.includes('/../'))
        for (const redirect_uri of foreign) {
          const { status, location, text } = await browser.go(
            `/oauth/authorize?${newLoginRequest({ redirect_uri }).search}`,
          )
          assert.equal(status, 400, redirect_uri)
          assert.equal(location, null)
          assert.match(text, /redirect_uri: is none of/)
        }
        const unknown = await browser.go(
          `/oauth/authorize?${newLoginRequest({ client_id: 'nobody' }).search}`,
        )
        assert.equal(unknown.status, 400)
        assert.match(unknown.text, /OAUTH_CLIENTS/)
        for (const [change, error] of [
          [{ code_challenge_method: 'plain' }, 'invalid_request'],
          [{ code_challenge: 'short' }, 'invalid_request'],
          [{ response_type: 'token' }, 'unsupported_response_type'],
        ] as const) {
          const { request, search } = newLoginRequest(change)
          const { location } = await browser.go(`/oauth/authorize?${search}`)
          const at = new URL(location ?? '')
          assert.equal(at.origin + at.pathname, request.redirect_uri)
          assert.equal(at.searchParams.get('error'), error)
          assert.equal(at.searchParams.get('state'), request.state)
        }
        const { search, verifier } = newLoginRequest({
          client_id: tool.id,
          redirect_uri: tool.redirect,
        })
        const at = await decide(browser, search, { workspace_id: workspace })
        assert.ok(at.href.startsWith(`${tool.redirect}&code=stw_code_`), at.href)
        const code = at.searchParams.get('code') ?? ''
        const other = await exchange(code, verifier, { redirect_uri: tool.redirect })
        assert.equal(other.body.error, 'invalid_grant')
        const given = { client_id: tool.id, redirect_uri: tool.redirect }
        assert.equal((await exchange(code, verifier, given)).status, 200)
        const refusals: [Record<string, string>, number, string][] = [
          [{}, 400, 'unsupported_grant_type'],
          [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
          [{ grant_type: 'refresh_token' }, 401, 'invalid_client'],
          [{ grant_type: 'refresh_token', client_id: officialClientId }, 400, 'invalid_request'],
          [
            { grant_type: 'refresh_token', client_id: officialClientId, refresh_token: 'x' },
            400,
            'invalid_grant',
          ],
        ]
        for (const [parameters, status, error] of refusals)
          for (const as of ['form', 'json'] as const) {
            const refused = await tokenRequest(service.base, parameters, as)
            assert.equal(refused.status, status)
            assert.equal(refused.body.error, error)
            assert.ok(refused.body.error_description)
          }
        await endAll()
      },
    )

    verifies(
      'logins/redirects',
      'a code is shown for copying where no browser comes back',
      async () => {
        const { service, workspace, owner, pass, endAll } = scene
        const redirect_uri = `${service.base}/oauth/code/callback?app=anthropic-cli`
        const { search, verifier, request } = newLoginRequest({ redirect_uri })
        const browser = browserOf(service.base, owner)
        const at = await decide(browser, search, { workspace_id: workspace })
        const page = await browser.go(at.pathname + at.search)
        const shown = /<strong>([^<]+)<\/strong>/.exec(page.text)?.[1] ?? ''
        const [code = '', state] = shown.split('#')
        assert.equal(state, request.state)
        pass(2 * minute)
        assert.equal((await exchange(code, verifier, { redirect_uri })).status, 200)
        await endAll()
      },
    )

    verifies(
      ['logins/code-once', 'logins/pkce'],
      'a code opens nothing for whoever has only the code, nor a second time, nor late',
      async () => {
        const { service, workspace, owner, pass, statusWith, logins } = scene
        const browser = browserOf(service.base, owner)
        const { search, verifier } = newLoginRequest()
        const codeOf = async () => {
          const at = await decide(browser, search, { workspace_id: workspace })
          return at.searchParams.get('code') ?? ''
        }
        const code = await codeOf()
        const thief = await exchange(code, newLoginRequest().verifier)
        assert.equal(thief.body.error, 'invalid_grant')
        const moved = await exchange(code, verifier, {
          redirect_uri: 'http://localhost:1/callback',
        })
        assert.equal(moved.body.error, 'invalid_grant')
        const { body } = await exchange(code, verifier)
        assert.equal(await statusWith(body.access_token), 200)
        assert.equal((await exchange(code, verifier)).body.error, 'invalid_grant')
        assert.equal(await statusWith(body.access_token), 401, 'the second use ends the login')
        const late = await codeOf()
        pass(minute + 1)
        assert.equal((await exchange(late, verifier)).body.error, 'invalid_grant')
        const said = await decide(browser, search, { decision: 'deny' })
        assert.equal(said.searchParams.get('error'), 'access_denied')
        assert.deepEqual(await logins(), [])
      },
    )

    verifies(
      'logins/authorize',
      'nobody is made to allow a login by a page of another origin, or without having seen the page',
      async () => {
        const { service, owner, workspace } = scene
        const { search } = newLoginRequest()
        const path = `/oauth/authorize?${search}`
        const browser = browserOf(service.base, owner)
        const page = await browser.go(path)
        const fields = { workspace_id: workspace }
        for (const origin of ['https://evil.example', 'null']) {
          const refused = await browser.post(page, path, fields, origin)
          assert.equal(refused.status, 403)
          assert.equal(refused.location, null)
        }
        const unseen = await browser.post({ ...page, text: '' }, path, fields)
        assert.equal(unseen.status, 403)
        const { workspace: second } = await service.otherWorkspace('not mine')
        const foreign = await browser.post(page, path, { workspace_id: second })
        assert.equal(foreign.status, 403)
        assert.match(foreign.text, /you are not a member of this workspace/)
        const named = await browser.go(
          `/oauth/authorize?${newLoginRequest({ workspace_id: second }).search}`,
        )
        assert.match(named.text, /You are not a member of the workspace that it asks for/)
      },
    )
  })
}
