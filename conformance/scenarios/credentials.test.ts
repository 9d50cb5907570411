import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import { NotFoundError as OldestNotFoundError } from '@anthropic-ai/sdk-oldest'
import { auditStore } from '@steward/server/tenants/audit/store.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const url = 'https://mcp.example/mcp'
const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`credentials on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const vaults = () => service.client.beta.vaults
    const newVault = async () => (await vaults().create({ display_name: fresh('vault') })).id
    const bearer = (token: string, mcp_server_url = url) => ({
      auth: { type: 'static_bearer' as const, token, mcp_server_url },
    })
    const listed = async (vault: string, query = '') =>
      (await service.ask('GET', `/v1/vaults/${vault}/credentials${query}`)).body.data

    verifies(
      ['vaults/create', 'vaults/credentials', 'credentials/type/mcp-oauth', 'vaults/delete'],
      'are kept for the oldest client as for the newest',
      async () => {
        const { vaults: old } = service.oldest.beta
        const vault = await old.create({ display_name: 'old', metadata: { a: '1' } })
        const refresh = {
          client_id: 'me',
          refresh_token: secret,
          token_endpoint: 'https://as.example/token',
          token_endpoint_auth: { type: 'client_secret_post' as const, client_secret: secret },
        }
        const made = await old.credentials.create(vault.id, {
          auth: { type: 'mcp_oauth', access_token: secret, mcp_server_url: url, refresh },
        })
        assert.equal(made.type, 'vault_credential')
        const changed = await old.credentials.update(made.id, {
          vault_id: vault.id,
          display_name: 'renamed',
          auth: { type: 'mcp_oauth', access_token: `${secret}2` },
        })
        assert.equal(changed.display_name, 'renamed')
        const ids = []
        for await (const each of old.credentials.list(vault.id, { limit: 1 })) ids.push(each.id)
        assert.deepEqual(ids, [made.id])
        assert.deepEqual(await old.credentials.retrieve(made.id, { vault_id: vault.id }), changed)
        const archived = await old.credentials.archive(made.id, { vault_id: vault.id })
        assert.ok(archived.archived_at)
        const gone = await old.credentials.delete(made.id, { vault_id: vault.id })
        assert.equal(gone.type, 'vault_credential_deleted')
        assert.equal((await old.delete(vault.id)).type, 'vault_deleted')
        await assert.rejects(old.retrieve(vault.id), OldestNotFoundError)
      },
    )

    verifies(
      ['credentials/unique', 'credentials/fixed'],
      'are one for each purpose, in every spelling of its URL, until they are archived',
      async () => {
        const vault = await newVault()
        const first = await vaults().credentials.create(vault, bearer('one'))
        for (const same of [
          'HTTPS://MCP.example:443/mcp',
          `${url}/`,
          'https://mcp.example/x/../mcp',
        ])
          await assert.rejects(
            vaults().credentials.create(vault, bearer('two', same)),
            ConflictError,
          )
        const oauth = { type: 'mcp_oauth' as const, access_token: 'a', mcp_server_url: url }
        await assert.rejects(vaults().credentials.create(vault, { auth: oauth }), ConflictError)
        for (const other of [`${url}?a=1`, 'http://mcp.example/mcp', 'https://mcp.example/MCP'])
          await vaults().credentials.create(vault, bearer('t', other))
        await vaults().credentials.archive(first.id, { vault_id: vault })
        const second = await vaults().credentials.create(vault, { auth: oauth })
        await vaults().credentials.delete(second.id, { vault_id: vault })
        await vaults().credentials.create(vault, bearer('three'))
        const elsewhere = await newVault()
        await vaults().credentials.create(elsewhere, bearer('four'))
      },
    )

    verifies(
      'vaults/update/rotates',
      "are written anew by their vault's body, by id or by purpose, all or none",
      async () => {
        const credentials = [bearer('one'), { auth: { type: 'cap_cli', cli_id: 'gh', token: 't' } }]
        const made = await service.ask('POST', '/v1/vaults', { name: 'seed', credentials })
        const path = `/v1/vaults/${made.body.id}`
        const before = await listed(made.body.id)
        assert.equal(before.length, 2)
        const byPurpose = await service.ask('PATCH', path, {
          name: 'new',
          auth: bearer('two').auth,
        })
        assert.deepEqual([byPurpose.status, byPurpose.body['display_name']], [200, 'new'])
        const gh = before.find(({ auth }) => (auth as LooseBody)['type'] === 'cap_cli')
        const credential = {
          id: gh?.id,
          display_name: 'host',
          auth: { type: 'cap_cli', cli_id: 'gh', token: 'next' },
        }
        assert.equal((await service.ask('POST', path, { credential })).status, 200)
        const rotated = await listed(made.body.id)
        assert.deepEqual(
          rotated.map(({ id }) => id),
          before.map(({ id }) => id),
        )
        assert.equal(rotated.find(({ id }) => id === gh?.id)?.['display_name'], 'host')
        const half = { name: 'x', credentials: [bearer('a', 'https://new.example'), { auth: {} }] }
        assert.equal((await service.ask('PATCH', path, half)).status, 400)
        const stray = { ...credential, id: 'vcrd_never' }
        const both = { name: 'x', credentials: [bearer('a', 'https://new.example'), stray] }
        assert.equal((await service.ask('PATCH', path, both)).status, 404)
        const moved = { credential: { ...bearer('a', 'https://new.example'), id: gh?.id } }
        assert.equal((await service.ask('PATCH', path, moved)).status, 400)
        assert.deepEqual(await listed(made.body.id), rotated)
        assert.equal((await service.ask('GET', path)).body['name'], 'new')
        const two = await service.ask('PATCH', path, { name: 'a', display_name: 'b' })
        assert.equal(two.status, 400)
      },
    )

    verifies(
      ['vaults/archive', 'vaults/archive/purges'],
      'keep their record and lose their secret with the archive, and take no change',
      async () => {
        const vault = await newVault()
        const { id } = await vaults().credentials.create(vault, bearer(secret))
        const agent = await service.client.beta.agents.create({ name: 'n', model: 'offline' })
        const environment = await service.client.beta.environments.create({ name: fresh('env') })
        const session = await service.client.beta.sessions.create({
          agent: agent.id,
          environment_id: environment.id,
          vault_ids: [vault],
        })
        const archived = await vaults().archive(vault)
        assert.deepEqual(await vaults().archive(vault), archived, 'again it changes nothing')
        assert.deepEqual(await listed(vault), [])
        const [kept] = await listed(vault, '?include_archived=true')
        assert.deepEqual([kept?.id, kept?.['archived_at']], [id, archived.archived_at])
        const { sealed } = await service.tenantDatabase.read
          .selectFrom('vault_credentials')
          .select('sealed')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        assert.equal(sealed, null)
        const refused: [string, string, object][] = [
          ['POST', `/v1/vaults/${vault}/credentials`, bearer('t', 'https://other.example')],
          ['POST', `/v1/vaults/${vault}/credentials/${id}`, { display_name: 'x' }],
          ['PATCH', `/v1/vaults/${vault}`, { name: 'x' }],
        ]
        for (const [method, path, body] of refused)
          assert.equal((await service.ask(method, path, body)).status, 400, path)
        assert.deepEqual(
          (await service.client.beta.sessions.retrieve(session.id)).vault_ids,
          [vault],
          'a session keeps the name',
        )
        await vaults().delete(vault)
        assert.equal((await service.client.beta.sessions.retrieve(session.id)).status, 'idle')
        await assert.rejects(vaults().credentials.retrieve(id, { vault_id: vault }), NotFoundError)
        const change = await service.ask('POST', `/v1/sessions/${session.id}`, { vault_ids: [] })
        assert.equal(change.status, 400)
        assert.match(JSON.stringify(change.body), /vault_ids/)
      },
    )

    verifies(
      'credentials/update',
      'keep the fields that an update does not name, and give up a client secret that is of no use',
      async () => {
        const vault = await newVault()
        const made = await vaults().credentials.create(vault, {
          auth: {
            type: 'mcp_oauth',
            access_token: 'a',
            mcp_server_url: url,
            expires_at: '2999-01-01T01:00:00+01:00',
            refresh: {
              client_id: 'me',
              refresh_token: 'r',
              token_endpoint: 'https://as.example/token',
              token_endpoint_auth: { type: 'client_secret_basic', client_secret: 'c' },
              scope: 'read',
            },
          },
          metadata: { a: '1' },
        })
        const at = { vault_id: vault }
        const { auth: shown } = await vaults().credentials.update(made.id, {
          ...at,
          metadata: { b: '2' },
          auth: { type: 'mcp_oauth', access_token: 'b', refresh: { refresh_token: null } },
        })
        assert.deepEqual(shown, made.auth)
        assert.ok(shown.type === 'mcp_oauth')
        assert.equal(shown.expires_at, '2999-01-01T01:00:00+01:00')
        const cleared = await service.ask('POST', `/v1/vaults/${vault}/credentials/${made.id}`, {
          auth: {
            type: 'mcp_oauth',
            refresh: { scope: '', token_endpoint_auth: { type: 'none' } },
          },
        })
        const { refresh } = cleared.body['auth'] as { refresh: LooseBody }
        assert.deepEqual(
          [refresh['scope'], refresh['token_endpoint_auth']],
          [null, { type: 'none' }],
        )
        assert.deepEqual(cleared.body['metadata'], { a: '1', b: '2' })
        const { sealed } = await service.tenantDatabase.read
          .selectFrom('vault_credentials')
          .select('sealed')
          .where('id', '=', made.id)
          .executeTakeFirstOrThrow()
        assert.deepEqual(Object.keys(JSON.parse(sealed ?? '')).toSorted(), [
          'access_token',
          'refresh_token',
        ])
        const variable = await service.ask('POST', `/v1/vaults/${vault}/credentials`, {
          auth: {
            type: 'environment_variable',
            secret_name: 'API_TOKEN',
            secret_value: 'v',
            networking: { type: 'unrestricted' },
            injection_location: { body: true },
          },
        })
        const hosts = async (injection_location: unknown) =>
          service.ask('POST', `/v1/vaults/${vault}/credentials/${variable.body.id}`, {
            auth: { type: 'environment_variable', injection_location },
          })
        const merged = await hosts({ header: true })
        assert.deepEqual((merged.body['auth'] as LooseBody)['injection_location'], {
          header: true,
          body: true,
        })
        assert.equal((await hosts({ header: false, body: false })).status, 400)
        assert.equal((await hosts(null)).status, 400)
        assert.equal((await hosts({ header: null })).status, 400)
      },
    )

    verifies(
      ['vaults/errors-silent', 'vaults/secrets-never-returned'],
      'are in no refusal, wherever in a body the secret is',
      async () => {
        const vault = await newVault()
        const path = `/v1/vaults/${vault}/credentials`
        const auths: unknown[] = [
          { type: secret },
          { type: 'static_bearer', token: [secret], mcp_server_url: url },
          { type: 'static_bearer', token: `${secret}\n`, mcp_server_url: url },
          { type: 'static_bearer', token: secret, mcp_server_url: secret },
          { type: 'static_bearer', token: secret, mcp_server_url: `https://${secret}@h.example` },
          { type: 'static_bearer', token: secret, mcp_server_url: url, [secret]: 1 },
          { type: 'static_bearer', token: secret, mcp_server_url: `ftp://h/${secret}` },
          { type: 'cap_cli', cli_id: secret, token: 'gh' },
          { type: 'command_secret', env_var: secret.replace('ghp_', '1'), token: secret },
          { type: 'command_secret', env_var: 'PATH', token: secret },
          { type: 'command_secret', env_var: 'A', token: secret, command_prefixes: [` ${secret}`] },
          {
            type: 'environment_variable',
            secret_name: 'A',
            secret_value: `${secret}\r\n`,
            networking: { type: 'limited', allowed_hosts: [`${secret}/`] },
          },
          {
            type: 'mcp_oauth',
            access_token: secret,
            mcp_server_url: url,
            expires_at: secret,
            refresh_token: secret,
          },
          {
            type: 'mcp_oauth',
            access_token: 'a',
            mcp_server_url: url,
            refresh: { client_secret: secret, token_endpoint_auth: { type: secret } },
          },
          secret,
          [secret],
        ]
        const answers = []
        for (const auth of auths) answers.push(await service.ask('POST', path, { auth }))
        for (const body of [`{"auth":"${secret}`, secret, `{"auth":${secret}}`])
          answers.push(await service.ask('POST', path, body))
        for (const auth of auths)
          answers.push(await service.ask('POST', '/v1/vaults', { name: 'n', auth }))
        for (const { status, body } of answers) {
          assert.equal(status, 400, JSON.stringify(body))
          assert.ok(!JSON.stringify(body).includes(secret.slice(4)), JSON.stringify(body))
        }
        assert.ok(!service.logged.join().includes(secret.slice(4)))
      },
    )

    verifies(
      [
        'audit/uses',
        'audit/changes',
        'audit/narrowed',
        'audit/changes/together',
        'audit/no-secret',
      ],
      'write an audit trail that is read by session, vault, credential and time, in pages',
      async () => {
        const vault = await newVault()
        const { id } = await vaults().credentials.create(vault, bearer(secret))
        await assert.rejects(vaults().credentials.create(vault, bearer(secret)), ConflictError)
        const { tenant_id } = await service.tenantDatabase.read
          .selectFrom('vaults')
          .select('tenant_id')
          .where('id', '=', vault)
          .executeTakeFirstOrThrow()
        const use = {
          tenant_id,
          session_id: fresh('sesn'),
          vault_id: vault,
          credential_id: id,
          caller: 'rpc-mcp',
          server: 'srv',
          host: 'mcp.example',
          method: 'POST',
        }
        for (let n = 0; n < 3; n++)
          await service.tenantDatabase.write(async (tx) => {
            const row = { id: fresh('cuse'), created_at: `2030-01-0${n + 1}T00:00:00.000Z` }
            await auditStore(tx).begin([{ ...use, ...row }])
            if (n > 0)
              await auditStore(tx).end(tenant_id, [
                { id: row.id, status: 200, refreshed: true, ms: 1.5 },
              ])
          })
        const read = async (query: string, headers = {}) =>
          (await service.ask('GET', `/v1/ext/audit/${query}`, undefined, headers)).body
        const uses = await read(`credential_uses?session_id=${use.session_id}`)
        assert.deepEqual(
          uses.data.map(({ status, refreshed, ms }) => [status, refreshed, ms]),
          [
            [200, true, 2],
            [200, true, 2],
            [null, false, null],
          ],
        )
        assert.equal((await read(`credential_uses?credential_id=${id}`)).data.length, 3)
        const since = 'created_at[gte]=2030-01-02T00:00:00Z'
        assert.equal((await read(`credential_uses?vault_id=${vault}&${since}`)).data.length, 2)
        assert.deepEqual((await read('credential_uses?session_id=sesn_never')).data, [])
        const page = await read(`credential_uses?vault_id=${vault}&limit=2`)
        const rest = await read(
          `credential_uses?vault_id=${vault}&limit=2&page=${String(page['next_page'])}`,
        )
        assert.deepEqual([...page.data, ...rest.data], uses.data)
        const other = await service.otherWorkspace(fresh('other'))
        const stranger = { 'x-api-key': other.key }
        assert.deepEqual((await read('credential_uses', stranger)).data, [])
        const changes = await read(`credential_changes?vault_id=${vault}`)
        assert.deepEqual(
          changes.data.map(({ change }) => change),
          ['credential.created', 'vault.created'],
          'what was refused has left no record',
        )
        assert.ok(!JSON.stringify([uses, changes]).includes(secret))
      },
    )

    it('are listed in pages, newest first, and a cursor of one vault is of no use in another', async () => {
      const [vault, other] = [await newVault(), await newVault()]
      const made = []
      for (let n = 0; n < 5; n++) {
        const { id } = await vaults().credentials.create(
          vault,
          bearer('t', `https://h${n}.example`),
        )
        made.push(id)
      }
      const ids = []
      for await (const each of vaults().credentials.list(vault, { limit: 2 })) ids.push(each.id)
      assert.deepEqual(ids, made.toReversed())
      const page = await service.ask('GET', `/v1/vaults/${vault}/credentials?limit=2`)
      const path = `/v1/vaults/${other}/credentials?page=${String(page.body['next_page'])}`
      assert.equal((await service.ask('GET', path)).status, 400)
    })
  })
}
