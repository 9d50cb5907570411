import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${fresh('secret')}-${Math.random().toString(36).slice(2)}`
const url = 'https://mcp.example.com/mcp'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`vaults on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const vaults = () => service.client.beta.vaults
    const newVault = async () => (await vaults().create({ display_name: fresh('vault') })).id
    const bearer = (token: string, mcp_server_url = url) => ({
      auth: { type: 'static_bearer' as const, token, mcp_server_url },
    })

    verifies(
      [
        'vaults/create',
        'vaults/get',
        'vaults/list',
        'vaults/update',
        'vaults/archive',
        'vaults/delete',
        'vaults/field/id',
        'vaults/field/times',
        'vaults/field/archived-at',
      ],
      'the official client makes, reads, changes, archives and deletes them',
      async () => {
        const made = await vaults().create({ display_name: 'mine', metadata: { a: '1' } })
        assert.deepEqual([made.type, made.display_name, made.archived_at], ['vault', 'mine', null])
        const changed = await vaults().update(made.id, {
          display_name: 'yours',
          metadata: { a: null, b: '2' },
        })
        assert.deepEqual([changed.display_name, changed.metadata], ['yours', { b: '2' }])
        assert.deepEqual(await vaults().retrieve(made.id), changed)
        const archived = await vaults().archive(made.id)
        assert.ok(archived.archived_at)
        const listed = async (include_archived: boolean) =>
          (await vaults().list({ include_archived })).data.some(({ id }) => id === made.id)
        assert.deepEqual([await listed(false), await listed(true)], [false, true])
        await assert.rejects(vaults().update(made.id, { display_name: 'x' }), BadRequestError)
        assert.equal((await vaults().delete(made.id)).type, 'vault_deleted')
        await assert.rejects(vaults().retrieve(made.id), NotFoundError)
      },
    )

    verifies(
      [
        'credentials/type/static-bearer',
        'credentials/type/mcp-oauth',
        'credentials/type/cap-cli',
        'credentials/type/command-secret',
        'credentials/type/environment-variable',
        'vaults/credentials',
        'vaults/secrets-never-returned',
        'service/vaults/kinds',
        'vaults/bundle',
      ],
      'keeps credentials of every type, and shows none of their secrets',
      async () => {
        const vault = await newVault()
        const secrets = Array.from({ length: 7 }, canary)
        const [one, two, three, four, five, six, seven] = secrets
        const inputs = [
          { type: 'static_bearer', token: one, mcp_server_url: 'https://a.example/mcp' },
          {
            type: 'mcp_oauth',
            access_token: two,
            mcp_server_url: 'https://b.example/mcp',
            // It has expired, and is renewed at its first use.
            expires_at: '2001-01-01T00:00:00Z',
            refresh: {
              client_id: 'me',
              refresh_token: three,
              token_endpoint: 'https://b.example/token',
              token_endpoint_auth: { type: 'client_secret_basic', client_secret: four },
              scope: 'read',
            },
          },
          {
            type: 'environment_variable',
            secret_name: 'API_TOKEN',
            secret_value: five,
            networking: {
              type: 'limited',
              allowed_hosts: ['api.example', '*.sub.example', '192.0.2.1'],
            },
          },
          { type: 'cap_cli', cli_id: 'gh', token: six },
          {
            type: 'command_secret',
            env_var: 'DEPLOY_TOKEN',
            token: seven,
            command_prefixes: ['deploy now'],
          },
        ]
        for (const auth of inputs) {
          const made = await service.ask('POST', `/v1/vaults/${vault}/credentials`, { auth })
          assert.equal(made.status, 200, JSON.stringify(made.body))
          assert.equal(made.body['type'], 'vault_credential')
        }
        const listed = await service.ask('GET', `/v1/vaults/${vault}/credentials`)
        const text = JSON.stringify(listed.body)
        for (const secret of secrets) assert.ok(!text.includes(secret), text)
        const types = listed.body.data.map(({ auth }) => (auth as LooseBody)['type'])
        assert.deepEqual(types, inputs.map(({ type }) => type).toReversed(), 'newest first')
        const auths = listed.body.data.map(({ auth }) => auth as LooseBody)
        assert.deepEqual(auths.find(({ type }) => type === 'mcp_oauth')?.['refresh'], {
          client_id: 'me',
          token_endpoint: 'https://b.example/token',
          token_endpoint_auth: { type: 'client_secret_basic' },
          resource: null,
          scope: 'read',
        })
        assert.deepEqual(auths.find(({ secret_name }) => secret_name)?.['injection_location'], {
          header: true,
          body: true,
        })
      },
    )

    verifies(
      ['vaults/secrets-sealed', 'secrets/vault-tokens'],
      'nothing of a secret is stored, logged or shown in an error',
      async () => {
        const vault = await newVault()
        const secret = canary()
        const { id } = await vaults().credentials.create(vault, bearer(secret))
        const refused = await service.ask('POST', `/v1/vaults/${vault}/credentials`, {
          auth: {
            type: 'static_bearer',
            token: secret,
            mcp_server_url: `https://u:${secret}@x.example`,
          },
        })
        assert.equal(refused.status, 400)
        const odd = await service.ask('POST', `/v1/vaults/${vault}/credentials/${id}`, {
          auth: { type: 'mcp_oauth', access_token: secret, refresh: { client_secret: secret } },
        })
        assert.equal(odd.status, 400)
        const rows = await service.tenantDatabase.read
          .selectFrom('vault_credentials')
          .selectAll()
          .execute()
        const everything = JSON.stringify([refused.body, odd.body, rows, service.logged])
        assert.ok(!everything.includes(secret))
      },
    )

    verifies(
      ['vaults/field/name', 'vaults/field/tenant-id'],
      'takes secrets in the body of a vault, and writes them anew by the same keys',
      async () => {
        const [first, second] = [canary(), canary()]
        const made = await service.ask('POST', '/v1/vaults', {
          name: 'seed',
          ...bearer(first),
        })
        assert.equal(made.status, 200, JSON.stringify(made.body))
        assert.deepEqual([made.body['name'], made.body['display_name']], ['seed', 'seed'])
        assert.match(String(made.body['tenant_id']), /^wrkspc_/)
        const path = `/v1/vaults/${made.body.id}`
        const list = async () => (await service.ask('GET', `${path}/credentials`)).body.data
        const [before] = await list()
        const patched = await service.ask('PATCH', path, { credentials: [bearer(second)] })
        assert.equal(patched.status, 200)
        const [after, ...others] = await list()
        assert.deepEqual([after?.id, others.length], [before?.id, 0])
        const flat = {
          type: 'mcp_oauth',
          access_token: first,
          refresh_token: second,
          token_endpoint: 'https://b.example/token',
          mcp_server_url: 'https://b.example/mcp',
        }
        await service.ask('PATCH', path, { credential: { auth: flat } })
        const [oauth] = (await list()).map(({ auth }) => auth as { refresh: LooseBody })
        assert.equal(oauth?.refresh['token_endpoint'], 'https://b.example/token')
        assert.ok(!JSON.stringify([made.body, patched.body]).includes('canary'))
      },
    )

    verifies(
      ['vaults/credential-limit', 'limits/vault-credentials'],
      'holds one credential for each purpose, and at most twenty',
      async () => {
        const vault = await newVault()
        await vaults().credentials.create(vault, bearer('a-token', 'https://Host.example:443/mcp/'))
        await assert.rejects(
          vaults().credentials.create(vault, bearer('other', 'https://host.example/mcp')),
          ConflictError,
        )
        for (let n = 1; n < 20; n++)
          await vaults().credentials.create(vault, bearer('t', `https://h${n}.example/mcp`))
        await assert.rejects(
          vaults().credentials.create(vault, bearer('t', 'https://h20.example/mcp')),
          /at most 20/,
        )
        const { data } = await vaults().credentials.list(vault, { limit: 1 })
        const last = data[0]?.id ?? ''
        const archived = await vaults().credentials.archive(last, { vault_id: vault })
        assert.ok(archived.archived_at)
        await vaults().credentials.create(vault, bearer('t', 'https://h19.example/mcp'))
        await assert.rejects(
          vaults().credentials.update(last, {
            vault_id: vault,
            auth: { type: 'static_bearer', token: 'x' },
          }),
          BadRequestError,
        )
        const row = await service.tenantDatabase.read
          .selectFrom('vault_credentials')
          .select('sealed')
          .where('id', '=', last)
          .executeTakeFirstOrThrow()
        assert.equal(row.sealed, null, 'the secret is gone with the archive')
      },
    )

    verifies(['credentials/fixed'], 'fixes the purpose of a credential', async () => {
      const vault = await newVault()
      const { id } = await vaults().credentials.create(vault, bearer('t'))
      const path = `/v1/vaults/${vault}/credentials/${id}`
      const change = async (auth: object) => service.ask('POST', path, { auth })
      assert.equal((await change({ type: 'static_bearer', token: 'next' })).status, 200)
      assert.equal((await change({ type: 'static_bearer', mcp_server_url: url })).status, 400)
      assert.equal((await change({ type: 'mcp_oauth', access_token: 'x' })).status, 400)
    })

    verifies(
      [
        'credentials/reserved-variables',
        'credentials/environment-variable/places',
        'credentials/cli-known',
      ],
      'refuses by name a credential that would not work or would do harm',
      async () => {
        const vault = await newVault()
        const refused = async (auth: object, why: RegExp) => {
          const { status, body } = await service.ask('POST', `/v1/vaults/${vault}/credentials`, {
            auth,
          })
          assert.equal(status, 400, JSON.stringify(body))
          assert.match(JSON.stringify(body), why)
        }
        const variable = {
          type: 'environment_variable',
          secret_name: 'A',
          secret_value: 'v',
          networking: { type: 'unrestricted' },
        }
        await refused({ type: 'cap_cli', cli_id: 'nope', token: 't' }, /cli_id.*nope/)
        await refused({ ...variable, secret_name: 'LD_PRELOAD' }, /secret_name.*reserved/)
        await refused({ ...variable, secret_name: 'https_proxy' }, /secret_name.*reserved/)
        await refused({ ...variable, injection_location: {} }, /injection_location/)
        await refused({ ...variable, injection_location: null }, /injection_location/)
        for (const host of ['https://x.example', 'x.example:443', '::1', 'x.example/a', '*']) {
          await refused(
            { ...variable, networking: { type: 'limited', allowed_hosts: [host] } },
            /allowed_hosts/,
          )
        }
        const hosts = Array.from({ length: 17 }, (_, n) => `h${n}.example`)
        await refused(
          { ...variable, networking: { type: 'limited', allowed_hosts: hosts } },
          /allowed_hosts/,
        )
        await refused({ type: 'static_bearer', token: 'a\nb', mcp_server_url: url }, /token/)
        await refused(
          {
            type: 'mcp_oauth',
            access_token: 't',
            mcp_server_url: url,
            expires_at: '2001-01-01T00:00:00Z',
          },
          /expires_at.*past/,
        )
        await refused({ type: 'command_secret', env_var: 'PATH', token: 't' }, /env_var.*reserved/)
        await refused({ type: 'card', token: 't' }, /type/)
      },
    )

    verifies(
      ['sessions/create/vault-ids'],
      'sessions take them in their order, and neither foreign nor archived ones',
      async () => {
        const agent = await service.client.beta.agents.create({
          name: fresh('agent'),
          model: 'offline',
        })
        const environment = await service.client.beta.environments.create({ name: fresh('env') })
        const session = { agent: agent.id, environment_id: environment.id }
        const [one, two, gone] = [await newVault(), await newVault(), await newVault()]
        const made = await service.client.beta.sessions.create({
          ...session,
          vault_ids: [two, one],
        })
        assert.deepEqual(made.vault_ids, [two, one])
        const read = await service.client.beta.sessions.retrieve(made.id)
        assert.deepEqual(read.vault_ids, [two, one])
        await vaults().archive(gone)
        const refused = async (vault_ids: string[]) =>
          (await service.ask('POST', '/v1/sessions', { ...session, vault_ids })).status
        assert.equal(await refused([gone]), 400)
        assert.equal(await refused([one, one]), 400)
        assert.equal(await refused(['vlt_unknown']), 404)
        const other = await service.otherWorkspace(fresh('other'))
        const foreign = await service.ask(
          'POST',
          '/v1/vaults',
          { name: 'f' },
          { 'x-api-key': other.key },
        )
        assert.equal(await refused([foreign.body.id]), 404)
      },
    )

    it('have an audit trail of every change, by the key that made it', async () => {
      const vault = await newVault()
      const { id } = await vaults().credentials.create(vault, bearer('t'))
      await vaults().credentials.update(id, {
        vault_id: vault,
        auth: { type: 'static_bearer', token: 'next' },
      })
      await vaults().delete(vault)
      const { body } = await service.ask(
        'GET',
        `/v1/ext/audit/credential_changes?vault_id=${vault}`,
      )
      assert.deepEqual(
        body.data.map(({ change }) => change),
        [
          'vault.deleted',
          'credential.deleted',
          'credential.rotated',
          'credential.created',
          'vault.created',
        ],
      )
      assert.ok(body.data.every(({ api_key_id }) => String(api_key_id).startsWith('apikey_')))
      const other = await service.otherWorkspace(fresh('other'))
      const foreign = await service.ask(
        'GET',
        `/v1/ext/audit/credential_changes?vault_id=${vault}`,
        undefined,
        { 'x-api-key': other.key },
      )
      assert.deepEqual(foreign.body.data, [])
    })
  })
}
