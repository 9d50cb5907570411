/** Two writers of a vault at once, and a refresh beside a caller's change of a credential. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuthCreate, AuthUpdate } from '@steward/protocol/credential-auth.ts'
import { CredentialCreate, VaultCreate, VaultUpdate } from '@steward/protocol/vaults.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { allShapes } from '../../ground/database/shapes-fixture.ts'
import { credentialStore, sealSecrets } from './credentials.ts'
import { openSecrets } from './open-credential.ts'
import { vaultStore } from './store.ts'
import * as write from './write.ts'

const seal = createSeal('a root secret for tests')
const tenant = 'wrkspc_test'
const now = Date.UTC(2030, 0)

/** The functions of the room, each in its own transaction, as the routes use them. */
function room(database: Database) {
  const unit =
    <Rest extends unknown[], T>(run: (at: write.VaultWriteContext, ...rest: Rest) => Promise<T>) =>
    (...rest: Rest) =>
      database.write((tx) =>
        run({ tx, tenant, seal, keyId: 'apikey_1', isAdmin: false, now }, ...rest),
      )
  const store = credentialStore(database.read)
  return {
    createVault: unit(write.createVault),
    updateVault: unit(write.updateVault),
    archiveVault: unit(write.archiveVault),
    deleteVault: unit(write.deleteVault),
    create: unit(write.createCredential),
    update: unit(write.updateCredential),
    archive: unit(write.archiveCredential),
    remove: unit(write.deleteCredential),
    async list(vault: string, archived = false) {
      const paging = { limit: 100, order: 'desc' } as const
      return (await store.list(tenant, vault, { paging, archived })).rows
    },
    async secrets(id: string) {
      const row = await store.active(tenant, id)
      assert.ok(row)
      return openSecrets(seal, row)
    },
    /** Reads the row like a refresh. The returned function stores a refreshed token. */
    async refreshed(id: string) {
      const row = await store.active(tenant, id)
      assert.ok(row)
      return (token: string) => {
        const secrets = { ...openSecrets(seal, row), access_token: token, refresh_token: token }
        const sealed = sealSecrets(seal, { tenant, id }, secrets)
        const next = { auth: row.auth, sealed, now }
        return database.write((tx) => credentialStore(tx).rotate(tenant, row, next))
      }
    },
  }
}

const bearer = (n: number, token = 'token') =>
  CredentialCreate.parse({
    auth: { type: 'static_bearer', token, mcp_server_url: `https://h${n}.example/mcp` },
  })

const oauth: AuthCreate = {
  type: 'mcp_oauth',
  access_token: 'access-0',
  mcp_server_url: 'https://mcp.example/mcp',
  refresh: {
    client_id: 'me',
    refresh_token: 'refresh-0',
    token_endpoint: 'https://as.example/token',
    token_endpoint_auth: { type: 'client_secret_post', client_secret: 'client-0' },
    scope: 'read',
  },
}

const kinds = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map((each) => {
    if (each.status === 'fulfilled') return 'done'
    assert.ok(each.reason instanceof PlatformError, String(each.reason))
    return each.reason.kind
  })
const times = (n: number) => Array.from({ length: n }, (_, i) => i)

for (const [name, open] of Object.entries(allShapes)) {
  describe(`vaults on ${name}, written by many at once`, () => {
    it('take one credential for one purpose, whoever comes first', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const { id } = await vaults.createVault({ name: 'v' })
      const made = kinds(
        await Promise.allSettled(times(8).map((n) => vaults.create(id, bearer(1, `t${n}`)))),
      )
      assert.deepEqual(made.toSorted(), [...Array<string>(7).fill('conflict'), 'done'])
      assert.equal((await vaults.list(id)).length, 1)
    })

    it('hold twenty and no more', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const { id } = await vaults.createVault({ name: 'v' })
      const made = kinds(
        await Promise.allSettled(times(26).map((n) => vaults.create(id, bearer(n)))),
      )
      assert.equal(made.filter((kind) => kind === 'done').length, 20)
      assert.equal((await vaults.list(id)).length, 20)
      const more = VaultUpdate.parse({ credentials: [bearer(100)] })
      await assert.rejects(vaults.updateVault(id, more), /at most 20/)
    })

    it('lose no credential into a vault that is archived or deleted meanwhile', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      for (const end of [vaults.archiveVault, vaults.deleteVault]) {
        const { id } = await vaults.createVault({ name: 'v' })
        await Promise.allSettled([...times(5).map((n) => vaults.create(id, bearer(n))), end(id)])
        await Promise.allSettled(times(3).map((n) => vaults.create(id, bearer(10 + n))))
        const { count } = await testDatabase.database.read
          .selectFrom('vault_credentials')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('vault_id', '=', id)
          .where('sealed', 'is not', null)
          .executeTakeFirstOrThrow()
        assert.equal(Number(count), 0)
      }
    })

    it('lose no token of a refresh to a change beside it', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const vault = await vaults.createVault({ name: 'v' })
      const { id } = await vaults.create(vault.id, { auth: oauth })
      for (const n of times(20)) {
        const store = await vaults.refreshed(id)
        const auth: AuthUpdate = { type: 'mcp_oauth', refresh: { scope: `scope-${n}` } }
        const [stored] = await Promise.all([
          store(`new-${n}`),
          vaults.update(vault.id, id, { auth }),
        ])
        const secrets = await vaults.secrets(id)
        if (stored) assert.equal(secrets.refresh_token, `new-${n}`)
        const [shown] = await vaults.list(vault.id)
        assert.ok(shown?.auth.type === 'mcp_oauth')
        assert.equal(shown.auth.refresh?.scope, `scope-${n}`, 'nor the change to the refresh')
      }
    })

    it('take no tokens for a credential that was archived, deleted or written anew meanwhile', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const vault = await vaults.createVault({ name: 'v' })
      const ends = [
        vaults.archive,
        vaults.remove,
        (at: string, id: string) =>
          vaults.update(at, id, { auth: { type: 'mcp_oauth', access_token: 'by hand' } }),
      ]
      for (const end of ends) {
        const { id } = await vaults.create(vault.id, { auth: oauth })
        const store = await vaults.refreshed(id)
        await end(vault.id, id)
        assert.equal(await store('late'), false)
        const row = await credentialStore(testDatabase.database.read).active(tenant, id)
        if (row) assert.equal(openSecrets(seal, row).access_token, 'by hand')
      }
    })
  })

  describe(`credentials on ${name}`, () => {
    it('are written with their vault or not at all', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const twice = VaultCreate.parse({ name: 'v', credentials: [bearer(1), bearer(1)] })
      await assert.rejects(vaults.createVault(twice), { kind: 'conflict' })
      const { id } = await vaults.createVault(
        VaultCreate.parse({ name: 'v', credentials: [bearer(1, 'first')] }),
      )
      const half = VaultUpdate.parse({
        credentials: [bearer(1, 'second'), { auth: { type: 'cap_cli', cli_id: 'no', token: 't' } }],
      })
      await assert.rejects(vaults.updateVault(id, half), /credentials\.1\.auth\.cli_id/)
      const [kept] = await vaults.list(id)
      assert.deepEqual(await vaults.secrets(kept?.id ?? ''), { token: 'first' })
      const rows = await testDatabase.database.read.selectFrom('vaults').select('id').execute()
      assert.equal(rows.length, 1)
    })

    it('are bound to values that are too long for an index, and still only once', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const { id } = await vaults.createVault({ name: 'v' })
      const long = `https://h.example/${'é'.repeat(2000)}`
      const auth = { type: 'static_bearer', token: 't', mcp_server_url: long } as const
      await vaults.create(id, { auth })
      await assert.rejects(vaults.create(id, { auth }), { kind: 'conflict' })
      const words = (n: number) => `${n} ${'w'.repeat(250)}`
      const command_prefixes = times(16).map(words)
      await vaults.create(id, {
        auth: { type: 'command_secret', env_var: 'A_TOKEN', token: 't', command_prefixes },
      })
    })

    it('keep the fields that an update omits or sets to null', async () => {
      await using testDatabase = await open()
      const vaults = room(testDatabase.database)
      const vault = await vaults.createVault({ name: 'v' })
      const { id } = await vaults.create(vault.id, { auth: oauth, display_name: 'kept' })
      const before = await vaults.secrets(id)
      const same = await vaults.update(vault.id, id, {
        auth: { type: 'mcp_oauth', access_token: null, expires_at: null, refresh: null },
      })
      assert.deepEqual(await vaults.secrets(id), before)
      assert.equal(same.display_name, 'kept')
      const cleared = await vaults.update(vault.id, id, {
        auth: { type: 'mcp_oauth', refresh: { scope: '', token_endpoint_auth: { type: 'none' } } },
      })
      assert.ok(cleared.auth.type === 'mcp_oauth')
      assert.equal(cleared.auth.refresh?.scope, null)
      assert.equal((await vaults.secrets(id)).client_secret, undefined, 'no secret is left behind')
    })

    it('belong to one tenant, whoever knows their names', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const vaults = room(database)
      const vault = await vaults.createVault({ name: 'v' })
      const { id } = await vaults.create(vault.id, { auth: oauth })
      const theirs = <T>(run: (at: write.VaultWriteContext) => Promise<T>) =>
        database.write((tx) =>
          run({ tx, tenant: 'wrkspc_b', seal, keyId: 'apikey_2', isAdmin: true, now }),
        )
      const attempts = [
        theirs((at) => write.updateVault(at, vault.id, { name: 'x' })),
        theirs((at) => write.archiveVault(at, vault.id)),
        theirs((at) => write.deleteVault(at, vault.id)),
        theirs((at) => write.createCredential(at, vault.id, bearer(1))),
        theirs((at) => write.updateCredential(at, vault.id, id, {})),
        theirs((at) => write.archiveCredential(at, vault.id, id)),
        theirs((at) => write.deleteCredential(at, vault.id, id)),
      ]
      assert.deepEqual(
        kinds(await Promise.allSettled(attempts)),
        attempts.map(() => 'not_found'),
      )
      assert.equal(await credentialStore(database.read).active('wrkspc_b', id), undefined)
      await assert.rejects(vaultStore(database.read).get('wrkspc_b', vault.id))
      const other = await vaults.createVault({ name: 'other' })
      await assert.rejects(vaults.archive(other.id, id), { kind: 'not_found' })
      assert.equal((await vaults.secrets(id)).access_token, 'access-0')
    })
  })
}
