import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { identitySettings } from '../issuer.ts'
import type { LoginScene } from '../oauth.ts'
import { bootForLogins, tokenRequest } from '../oauth.ts'
import { scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const minute = 60_000
const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** The official client insists on both, and the service reads neither. */
const required = { federation_rule_id: 'fdrl_any', organization_id: 'any' }
const ci = { sub: 'repo:acme/app', repository: 'acme/app' }

const variables = [
  'ANTHROPIC_CONFIG_DIR',
  'ANTHROPIC_PROFILE',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_FEDERATION_RULE_ID',
  'ANTHROPIC_ORGANIZATION_ID',
  'ANTHROPIC_IDENTITY_TOKEN_FILE',
  'ANTHROPIC_WORKSPACE_ID',
  'ANTHROPIC_API_KEY',
]

/** Runs with these variables of the official client and no others. */
async function withVariables(set: Record<string, string>, run: () => Promise<void>): Promise<void> {
  const saved = new Map(variables.map((name) => [name, process.env[name]]))
  for (const name of variables) delete process.env[name]
  Object.assign(process.env, set)
  try {
    await run()
  } finally {
    for (const [name, value] of saved)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`tokens of a company that are exchanged, on ${database}`, () => {
    let issuer: TestIssuer
    let scene: LoginScene
    let second: string
    before(async () => {
      issuer = await startIssuer()
      const rules = [
        { claims: { repository: 'acme/*' }, workspace: 'default', role: 'member' },
        { groups: ['leads'], workspace: 'default', role: 'admin' },
        { groups: ['leads'], workspace: 'second', role: 'viewer' },
      ]
      const provider = { issuer: issuer.issuer, audience: 'steward', rules }
      scene = await bootForLogins(database, identitySettings({ code: provider }))
      second = (await scene.service.otherWorkspace('second')).workspace
    })
    after(async () => {
      await scene.service.close()
      await issuer[Symbol.asyncDispose]()
    })

    const exchange = async (assertion: string, more: Record<string, string> = {}) =>
      tokenRequest(scene.service.base, { grant_type, assertion, ...required, ...more }, 'json')

    verifies(
      'logins/assertion',
      'a token of the company gives a short one, by the rules',
      async () => {
        const { statusWith, pass, workspace } = scene
        const { status, body } = await exchange(await issuer.sign(ci))
        assert.equal(status, 200)
        assert.equal(body.expires_in, 900)
        assert.equal(body.refresh_token, undefined)
        assert.equal(body.workspace.id, workspace)
        assert.equal(await statusWith(body.access_token), 200)
        assert.equal(await statusWith(body.access_token, '/v1/ext/audit'), 403)
        pass(15 * minute)
        assert.equal(await statusWith(body.access_token), 401)
        pass(-15 * minute)
      },
    )

    verifies('logins/assertion', 'several workspaces want one to be named', async () => {
      const { statusWith, workspace } = scene
      const token = await issuer.sign({ sub: 'lea', groups: ['leads'] })
      const unnamed = await exchange(token)
      assert.equal(unnamed.body.error, 'invalid_request')
      assert.match(unnamed.body.error_description ?? '', /workspace_id/)
      const first = await exchange(token, { workspace_id: workspace })
      assert.equal(await statusWith(first.body.access_token, '/v1/ext/audit'), 200)
      const other = await exchange(token, { workspace_id: second })
      assert.equal(await statusWith(other.body.access_token, '/v1/ext/audit'), 403)
      const foreign = { 'anthropic-workspace-id': workspace }
      assert.equal(await statusWith(other.body.access_token, '/v1/agents', foreign), 403)
      const unknown = await exchange(token, { workspace_id: 'wrkspc_none' })
      assert.equal(unknown.body.error, 'invalid_grant')
    })

    verifies(
      ['logins/assertion', 'logins/errors'],
      'nothing is given for a token that is forged, foreign, old or without a rule',
      async () => {
        const stranger = await startIssuer()
        try {
          const good = await issuer.sign(ci)
          const [head = '', body = ''] = good.split('.')
          const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
          const tokens = [
            'nonsense',
            await stranger.sign(ci),
            `${none}.${body}.`,
            `${head}.${body}.${'A'.repeat(86)}`,
            await issuer.sign({ ...ci, aud: 'another' }),
            await issuer.sign({ ...ci, exp: Math.floor(Date.now() / 1_000) - 120 }),
            await issuer.sign({ sub: 'eve', repository: 'evil/app' }),
          ]
          for (const token of tokens) {
            const { status, body: refused } = await exchange(token)
            assert.equal(status, 400, token)
            assert.equal(refused.error, 'invalid_grant', JSON.stringify(refused))
            assert.ok(!JSON.stringify(refused).includes(good.split('.')[2] ?? ''))
          }
          const long = await exchange('x'.repeat(17_000))
          assert.equal(long.body.error, 'invalid_request')
        } finally {
          await stranger[Symbol.asyncDispose]()
        }
      },
    )

    verifies(
      'logins/assertion/one-login',
      'a subject has one login, which is listed, audited and ended like a key',
      async () => {
        const { service, bearer, logins, endAll, statusWith } = scene
        await endAll()
        const both = await Promise.all([
          exchange(await issuer.sign(ci)),
          exchange(await issuer.sign(ci)),
        ])
        const [login, ...more] = await logins()
        assert.ok(login)
        assert.deepEqual(more, [])
        assert.match(login.name, /repo:acme\/app/)
        const { body } = both[0]
        const made = await service.ask(
          'POST',
          '/v1/agents',
          { name: 'of ci', model: 'offline', tools: [] },
          bearer(body.access_token),
        )
        assert.equal(made.status, 200)
        const audit = await service.ask<{ data: { action: string; actor: { type: string } }[] }>(
          'GET',
          `/v1/ext/audit?resource_id=${made.body.id}`,
        )
        assert.equal(audit.body.data[0]?.actor.type, 'subject')
        const key = { name: 'k' }
        const kept = await service.ask('POST', '/v1/ext/api_keys', key, bearer(body.access_token))
        assert.match(JSON.stringify(kept.body), /expires_at/)
        assert.equal((await service.ask('DELETE', `/v1/ext/api_keys/${login.id}`)).status, 200)
        for (const each of both) assert.equal(await statusWith(each.body.access_token), 401)
      },
    )

    verifies(
      'logins/assertion/official-client',
      'the official client reads an identity-token file, by its variables and by a profile',
      async () => {
        const { service, pass } = scene
        const folder = await mkdtemp(join(tmpdir(), 'steward-federation-'))
        const file = join(folder, 'token')
        await writeFile(file, await issuer.sign(ci))
        try {
          const set = {
            ANTHROPIC_BASE_URL: service.base,
            ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_any',
            ANTHROPIC_ORGANIZATION_ID: 'any',
            ANTHROPIC_IDENTITY_TOKEN_FILE: file,
            ANTHROPIC_CONFIG_DIR: folder,
          }
          await withVariables(set, async () => {
            const client = new Anthropic()
            assert.ok(Array.isArray((await client.beta.agents.list()).data))
            // The platform has put a newer token into the file.
            const iat = Math.floor(Date.now() / 1_000) + 16 * 60
            await writeFile(file, await issuer.sign({ ...ci, iat, exp: iat + 300 }))
            pass(16 * minute)
            assert.ok(Array.isArray((await client.beta.agents.list()).data))
            pass(-16 * minute)
          })
          await writeFile(file, await issuer.sign(ci))
          await mkdir(join(folder, 'configs'))
          const config = {
            authentication: {
              type: 'oidc_federation',
              federation_rule_id: 'fdrl_any',
              identity_token: { source: 'file', path: file },
            },
            organization_id: 'any',
            workspace_id: 'default',
            base_url: service.base,
          }
          await writeFile(join(folder, 'configs', 'ci.json'), JSON.stringify(config))
          await withVariables({ ANTHROPIC_CONFIG_DIR: folder }, async () => {
            const client = new Anthropic({ profile: 'ci' })
            assert.ok(Array.isArray((await client.beta.agents.list()).data))
            await writeFile(file, 'not a token of anybody')
            const other = new Anthropic({ profile: 'ci' })
            assert.ok(Array.isArray((await other.beta.agents.list()).data), 'by its cache')
          })
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
      },
    )
  })
}
