import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import type { LoginScene } from '../oauth.ts'
import {
  bootForLogins,
  browserOf,
  logIn,
  officialClientId,
  refreshed,
  tokenRequest,
} from '../oauth.ts'
import { accept } from '../people.ts'
import { scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const minute = 60_000
for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`logins of clients on ${database}`, () => {
    let scene: LoginScene
    before(async () => void (scene = await bootForLogins(database)))
    after(() => scene.service.close())

    verifies(
      ['logins/live-role', 'logins/ends'],
      'a login is never more than its person is at that moment',
      async () => {
        const { service, workspace, owner, bearer, statusWith, logins } = scene
        const guest = await accept(service, await service.invite(workspace, 'admin'), {
          email: 'guest@example.com',
        })
        const { access_token: token, refresh_token } = await logIn(service.base, guest, workspace)
        const me = await guest.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
        const { id } = me.body.user
        const body = { name: 'n', model: 'offline', tools: [] }
        const make = async () =>
          (await service.ask('POST', '/v1/agents', body, bearer(token))).status
        assert.equal(await make(), 200)
        assert.equal(await statusWith(token, '/v1/ext/audit'), 200)
        const { workspace: second } = await service.otherWorkspace('second')
        const named = { 'anthropic-workspace-id': second }
        assert.equal(await statusWith(token, '/v1/agents', named), 403)
        const own = { 'anthropic-workspace-id': workspace }
        assert.equal(await statusWith(token, '/v1/agents', own), 200)
        for (const path of ['/v1/ext/auth/sign_out', '/v1/ext/auth/password'])
          assert.equal((await service.ask('POST', path, {}, bearer(token))).status, 403, path)
        const member_path = `/v1/ext/members/${id}`
        assert.equal((await owner.ask('POST', member_path, { role: 'viewer' })).status, 200)
        assert.equal(await make(), 403)
        assert.equal(await statusWith(token), 200)
        assert.equal(await statusWith(token, '/v1/ext/audit'), 403)
        assert.equal((await owner.ask('DELETE', member_path)).status, 200)
        assert.equal(await statusWith(token), 401)
        const { body: refused } = await refreshed(service.base, refresh_token)
        assert.equal(refused.error, 'invalid_grant')
        assert.deepEqual(await logins(), [])
        const { status } = await guest.ask('POST', '/v1/ext/auth/workspace', {
          workspace_id: workspace,
        })
        assert.equal(status, 403)
      },
    )

    verifies(
      ['logins/refresh', 'logins/refresh/reuse', 'logins/ends'],
      'a refresh token is exchanged once, and a later second use ends the login',
      async () => {
        const { service, workspace, owner, pass, statusWith, endAll } = scene
        const first = await logIn(service.base, owner, workspace)
        const next = (await refreshed(service.base, first.refresh_token)).body
        assert.notEqual(next.refresh_token, first.refresh_token)
        assert.equal(await statusWith(next.access_token), 200)
        await until(async () => (await usedLines()) >= 1)
        pass(2 * minute)
        const thief = await refreshed(service.base, first.refresh_token)
        assert.equal(thief.body.error, 'invalid_grant')
        assert.equal(await statusWith(next.access_token), 401)
        assert.equal(
          (await refreshed(service.base, next.refresh_token)).body.error,
          'invalid_grant',
        )
        await endAll()
      },
    )

    const usedLines = async () =>
      (
        await scene.service.database.read
          .selectFrom('oauth_tokens')
          .select('hash')
          .where('used_at', 'is not', null)
          .execute()
      ).length

    verifies(
      'logins/refresh/repeated',
      'a client that lost the answer, and processes that race, go on with one next token',
      async () => {
        const { service, workspace, owner, pass, statusWith, endAll } = scene
        const { refresh_token } = await logIn(service.base, owner, workspace)
        const race = await Promise.all(
          Array.from({ length: 5 }, () => refreshed(service.base, refresh_token)),
        )
        const nexts = new Set(race.map(({ body }) => body.refresh_token))
        assert.equal(nexts.size, 1, 'one next token')
        for (const { body } of race) assert.equal(await statusWith(body.access_token), 200)
        const [next = ''] = nexts
        const lost = await refreshed(service.base, next)
        assert.equal(lost.status, 200)
        pass(3 * 60 * minute)
        const again = await refreshed(service.base, next)
        assert.equal(again.body.refresh_token, lost.body.refresh_token)
        assert.equal(await statusWith(again.body.access_token), 200)
        await endAll()
      },
    )

    verifies(
      ['logins/listed', 'logins/revoke', 'logins/audited'],
      'a login is listed, ended and audited like a key',
      async () => {
        const { service, workspace, owner, member, statusWith, logins } = scene
        const mine = await logIn(service.base, owner, workspace)
        const [login] = await logins()
        assert.ok(login)
        assert.equal(login['client_id'], officialClientId)
        assert.equal(login.name, 'Anthropic CLI')
        const path = `/v1/ext/api_keys/${login.id}`
        assert.equal((await member.ask('DELETE', path)).status, 403)
        assert.equal((await owner.ask('DELETE', path)).status, 200)
        assert.equal(await statusWith(mine.access_token), 401)
        assert.equal((await refreshed(service.base, mine.refresh_token)).status, 400)
        const theirs = await logIn(service.base, member, workspace)
        assert.equal(await statusWith(theirs.access_token), 200)
        const revoke = (token: string) =>
          fetch(`${service.base}/v1/oauth/revoke`, {
            method: 'POST',
            body: new URLSearchParams({ token }),
          })
        assert.equal((await revoke('unknown')).status, 200)
        assert.equal((await revoke(theirs.refresh_token)).status, 200)
        assert.equal(await statusWith(theirs.access_token), 401)
        const lines = async () =>
          (
            await service.ask<{ data: AuditedLogin[] }>(
              'GET',
              '/v1/ext/audit?resource_type=api_key&limit=100',
            )
          ).body.data
        const of = (await lines()).filter(({ resource }) => resource.id === login.id)
        assert.deepEqual(
          of.map(({ action }) => action).filter((action) => action !== 'api_key.first_use'),
          ['api_key.delete', 'api_key.create'],
        )
        assert.equal(of.at(-1)?.actor.name, 'Olga <owner@example.com>')
        const [ended] = (await lines()).filter(({ after }) => after?.reason !== undefined)
        assert.equal(ended?.after?.reason, 'its client has logged out')
        assert.deepEqual(await logins(), [])
      },
    )
    type AuditedLogin = {
      action: string
      actor: { name: string }
      resource: { id: string }
      after: { reason?: string } | null
    }

    verifies('logins/hashed', 'no code and no token is in the database or in the log', async () => {
      const { service, workspace, owner, statusWith, endAll } = scene
      const made = await logIn(service.base, owner, workspace)
      assert.equal(await statusWith(made.access_token), 200)
      const secrets = [made.access_token, made.refresh_token]
      for (const table of ['oauth_tokens', 'oauth_requests', 'api_keys', 'audit_lines'] as const) {
        const rows = await service.database.read.selectFrom(table).selectAll().execute()
        const text = JSON.stringify(rows)
        for (const secret of secrets) assert.ok(!text.includes(secret), table)
        assert.ok(!text.includes('stw_code_'))
      }
      assert.ok(!service.logged.join('\n').includes('stw_code_'))
      for (const secret of secrets) assert.ok(!service.logged.join('\n').includes(secret))
      await endAll()
    })

    verifies(
      ['logins/device', 'logins/device/polling'],
      'a device without a browser logs in by a code that its person types',
      async () => {
        const { service, workspace, member, pass, statusWith, endAll } = scene
        const begin = async () =>
          (await (
            await fetch(`${service.base}/v1/oauth/device_authorization`, {
              method: 'POST',
              body: new URLSearchParams({ client_id: officialClientId }),
            })
          ).json()) as Record<'device_code' | 'user_code' | 'verification_uri', string> & {
            interval: number
          }
        const poll = (device_code: string) =>
          tokenRequest(service.base, {
            grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
            device_code,
            client_id: officialClientId,
          })
        const asked = await begin()
        assert.match(asked.user_code, /^[B-Z]{4}-[B-Z]{4}$/)
        assert.equal(asked.verification_uri, `${service.base}/oauth/device`)
        assert.equal((await poll(asked.device_code)).body.error, 'authorization_pending')
        const hasty = (await poll(asked.device_code)).body
        assert.equal(hasty.error, 'slow_down')
        assert.match(hasty.error_description ?? '', /wait 10 seconds/)
        pass(10_000)
        assert.equal((await poll(asked.device_code)).body.error, 'authorization_pending')
        const browser = browserOf(service.base, member)
        const page = await browser.go('/oauth/device')
        const wrong = await browser.post(page, '/oauth/device', { user_code: 'BBBB-BBBB' })
        assert.equal(wrong.status, 400)
        const typed = asked.user_code.toLowerCase().replace('-', ' ')
        const shown = await browser.post(page, '/oauth/device', { user_code: typed })
        assert.match(shown.text, /begun this login yourself/)
        const decision = { user_code: asked.user_code, workspace_id: workspace }
        const done = await browser.post(shown, '/oauth/device/decision', decision)
        assert.match(done.text, /The program is logged in/)
        const twice = await browser.post(shown, '/oauth/device/decision', decision)
        assert.equal(twice.status, 400)
        const { status, body } = await poll(asked.device_code)
        assert.equal(status, 200)
        assert.equal(await statusWith(body.access_token), 200)
        assert.equal((await poll(asked.device_code)).body.error, 'invalid_grant')
        const denied = await begin()
        await browser.post(shown, '/oauth/device/decision', {
          user_code: denied.user_code,
          decision: 'deny',
        })
        assert.equal((await poll(denied.device_code)).body.error, 'access_denied')
        const late = await begin()
        pass(10 * minute + 1)
        assert.equal((await poll(late.device_code)).body.error, 'expired_token')
        await endAll()
      },
    )

    verifies('logins/metadata', 'the metadata names endpoints that are there', async () => {
      const { service } = scene
      const { body } = await service.ask<Record<string, string>>(
        'GET',
        '/.well-known/oauth-authorization-server',
      )
      assert.equal(body['issuer'], service.base)
      for (const name of ['token_endpoint', 'revocation_endpoint', 'device_authorization_endpoint'])
        assert.equal((await fetch(body[name] ?? '', { method: 'POST' })).status < 404, true, name)
    })

    verifies(
      'logins/official-client',
      'the official client works by a profile, and renews it by itself, in two processes at once',
      async () => {
        const { service, workspace, owner, pass, endAll } = scene
        const folder = await mkdtemp(join(tmpdir(), 'steward-profile-'))
        const path = join(folder, 'credentials', 'work.json')
        const made = await logIn(service.base, owner, workspace)
        await mkdir(join(folder, 'configs'))
        await mkdir(join(folder, 'credentials'))
        const config = {
          version: '1.0',
          authentication: { type: 'user_oauth', client_id: officialClientId },
          base_url: service.base,
          workspace_id: workspace,
        }
        await writeFile(join(folder, 'configs', 'work.json'), JSON.stringify(config))
        const keep = async (expires_at: number) =>
          writeFile(
            path,
            JSON.stringify({
              version: '1.0',
              type: 'oauth_token',
              access_token: made.access_token,
              refresh_token: made.refresh_token,
              expires_at,
            }),
            { mode: 0o600 },
          )
        await keep(Math.floor(Date.now() / 1_000) + 3_600)
        process.env['ANTHROPIC_CONFIG_DIR'] = folder
        process.env['ANTHROPIC_PROFILE'] = 'work'
        const saved = process.env['ANTHROPIC_API_KEY']
        delete process.env['ANTHROPIC_API_KEY']
        const client = new Anthropic()
        try {
          assert.ok(Array.isArray((await client.beta.agents.list()).data))
          assert.equal(client.baseURL, service.base)
          await keep(Math.floor(Date.now() / 1_000) + 5)
          const both = [new Anthropic(), new Anthropic()]
          for (const { data } of await Promise.all(both.map((each) => each.beta.agents.list())))
            assert.ok(Array.isArray(data))
          const stored = JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
          assert.notEqual(stored['refresh_token'], made.refresh_token)
          // The service ends the access token; the client finds out by a 401.
          pass(61 * minute)
          assert.ok(Array.isArray((await client.beta.agents.list()).data))
          await endAll()
          await assert.rejects(client.beta.agents.list(), /invalid_grant/)
        } finally {
          delete process.env['ANTHROPIC_CONFIG_DIR']
          delete process.env['ANTHROPIC_PROFILE']
          if (saved !== undefined) process.env['ANTHROPIC_API_KEY'] = saved
          await rm(folder, { recursive: true, force: true })
        }
      },
    )

    // The last one: no sign-in lasts as long as the time that passes here.
    verifies('logins/ends', 'a login that nobody renews ends after 30 days', async () => {
      const { service, workspace, owner, pass } = scene
      const { refresh_token } = await logIn(service.base, owner, workspace)
      pass(29 * 24 * 60 * minute)
      const kept = await refreshed(service.base, refresh_token)
      assert.equal(kept.status, 200)
      pass(31 * 24 * 60 * minute)
      const late = await refreshed(service.base, kept.body.refresh_token)
      assert.equal(late.body.error, 'invalid_grant')
    })
  })
}
