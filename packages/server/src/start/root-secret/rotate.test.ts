import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { agentStore, agentTokenContext } from '../../resources/agents/store.ts'
import { buildAgentConfig } from '../../resources/agents/config.ts'
import type { Seal, Sealed } from '../../ground/core/security/seal.ts'
import { keyIdOf, createSeal } from '../../ground/core/security/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { addWorkspace } from '../../ground/database/per-tenant/fixture.ts'
import { workspaceKeys } from '../../ground/database/workspace-keys.ts'
import { announceRootKey, checkRootKey, withdrawRootKey } from '../../ground/database/root-key.ts'
import { buildCardRow } from '../../resources/model-cards/write.ts'
import { headersContext, keyContext, modelCardStore } from '../../resources/model-cards/store.ts'
import { sealTokens } from '../../sessions/new-row.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { newSession } from '../../sessions/fixture.ts'
import { attachResources } from '../../sessions/resources/attach.ts'
import { resourceKinds } from '../../sessions/resources/kinds.ts'
import { repositoryTokenContext } from '../../sessions/rows/resources.ts'
import { tokenContext } from '../../sessions/rows/sessions.ts'
import { credentialStore } from '../../resources/vaults/credentials.ts'
import { openSecrets } from '../../resources/vaults/open-credential.ts'
import { createCredential, createVault } from '../../resources/vaults/write.ts'
import { newEndpoint } from '../../tenants/webhooks/fixture.ts'
import { openSigningSecrets } from '../../tenants/webhooks/store.ts'
import { checkKeys, checkSealed, rotateRootSecret } from './rotate.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import { rows } from '../../ground/database/rows.ts'

const [first, second] = ['the first root secret', 'the second root secret']
const before = createSeal(first)
const during = createSeal(second, [first])
const after = createSeal(second)
const now = Date.UTC(2030, 0)
const quiet = () => {}
const repository = {
  type: 'github_repository',
  url: 'https://git.example/one/repository',
  authorization_token: 'of-a-repository',
} as const

async function newCredential(database: Database, seal: Seal, vault: string, n: number) {
  return database.write((tx) =>
    createCredential({ tx, tenant, seal, keyId: 'apikey_1', isAdmin: true, now }, vault, {
      auth: {
        type: 'mcp_oauth',
        access_token: `access-${n}`,
        mcp_server_url: `https://h${n}.example/mcp`,
        refresh: {
          client_id: 'me',
          refresh_token: `refresh-${n}`,
          token_endpoint: 'https://as.example/token',
          token_endpoint_auth: { type: 'client_secret_basic', client_secret: `client-${n}` },
        },
      },
    }),
  )
}

const newVault = (database: Database, seal: Seal) =>
  database.write((tx) =>
    createVault({ tx, tenant, seal, keyId: 'apikey_1', isAdmin: true, now }, { display_name: 'v' }),
  )

/** Writes at least one value into every column with sealed values. */
async function fill(database: Database, seal: Seal, credentials: number) {
  const session = await newSession(database)
  const agent = await database.write(async (tx) => {
    const card = {
      model_id: 'handle',
      provider: 'oai-compatible',
      model: 'm',
      credentials: null,
      api_key: 'sk-of-a-card',
      custom_headers: { 'x-secret': 'header-of-a-card' },
    }
    const kept = { tenant_id: tenant, id: 'card_1', created_at: new Date(now).toISOString() }
    await modelCardStore(tx).insert(buildCardRow(kept, card, seal, kept.created_at))
    await tx
      .updateTable('sessions')
      .set({ sealed_tokens: sealTokens(seal, { tenant, id: session }, { srv: 'of-a-session' }) })
      .where('id', '=', session)
      .execute()
    const kinds = resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' })
    await attachResources(tx, kinds, { tenant, session, now }, [{ resource: repository, at: '' }])
    const { config } = buildAgentConfig({ name: 'a', model: 'offline' })
    const tokens = { srv: seal.seal('of-an-agent', agentTokenContext(tenant)) }
    await agentStore(tx).create(tenant, config, {}, now)
    return agentStore(tx).create(tenant, config, tokens, now)
  })
  const made = []
  for (let n = 0; n < credentials; n++) {
    const vault = await newVault(database, seal)
    made.push((await newCredential(database, seal, vault.id, n)).id)
  }
  const { id: endpoint } = await newEndpoint(database, seal, {
    tenant,
    url: 'https://hooks.example/',
    events: ['agent.archived'],
  })
  return { agent: agent.id, session, credentials: made, endpoint }
}

type Filled = Awaited<ReturnType<typeof fill>>

/** All values, opened by this seal. */
async function opened({ read }: Database, seal: Seal, filled: Filled): Promise<string[]> {
  const card = await rows(read, 'model_cards').get(tenant, 'card_1')
  const tokensOf = (text: string | null) => JSON.parse(text ?? '{}') as Record<string, Sealed>
  const { sealed_tokens: ofSession } = await read
    .selectFrom('sessions')
    .select('sealed_tokens')
    .where('id', '=', filled.session)
    .executeTakeFirstOrThrow()
  const { sealed_tokens: ofAgent } = await read
    .selectFrom('agent_versions')
    .select('sealed_tokens')
    .where('agent_id', '=', filled.agent)
    .executeTakeFirstOrThrow()
  const ofRepository = await read
    .selectFrom('session_resources')
    .select(['id', 'sealed_token'])
    .where('session_id', '=', filled.session)
    .executeTakeFirstOrThrow()
  const texts = [
    seal.open(ofRepository.sealed_token as Sealed, repositoryTokenContext(tenant, ofRepository.id)),
    seal.open(card.sealed_key, keyContext(tenant, card.id)),
    card.sealed_headers ? seal.open(card.sealed_headers, headersContext(tenant, card.id)) : '',
    seal.open(tokensOf(ofSession)['srv'] as Sealed, tokenContext(tenant, filled.session, 'srv')),
    seal.open(tokensOf(ofAgent)['srv'] as Sealed, agentTokenContext(tenant)),
  ]
  texts.push(
    ...openSigningSecrets(
      seal,
      await rows(read, 'webhook_endpoints').get(tenant, filled.endpoint),
      now,
    ),
  )
  for (const id of filled.credentials) {
    const row = await credentialStore(read).active(tenant, id)
    assert.ok(row)
    texts.push(JSON.stringify(openSecrets(seal, row)))
  }
  return texts
}

for (const [name, open] of Object.entries(databases)) {
  describe(`the root secret on ${name}`, () => {
    it('gives way to another, in every column and without a change of what is sealed', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 3)
      const texts = await opened(database, before, filled)
      await checkRootKey(database, during)
      await checkSealed(database, during)
      const told: string[] = []
      const written = await rotateRootSecret(database, during, ({ column, done }) =>
        told.push(`${column} ${done}`),
      )
      assert.equal(written, 6 + 3)
      assert.ok(told.includes('vault_credentials.sealed 3'), told.join())
      assert.deepEqual(await opened(database, after, filled), texts)
      await checkRootKey(database, after)
      await checkSealed(database, after)
      await assert.rejects(checkRootKey(database, before), /PLATFORM_ROOT_SECRET/)
      assert.equal(await rotateRootSecret(database, after, quiet), 0)
    })

    it('puts all under the keys of workspaces, and gives way by sealing these anew alone', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const filled = await fill(database, before, 2)
      const texts = await opened(database, before, filled)
      await addWorkspace(database, tenant)
      assert.equal(await rotateRootSecret(database, before, quiet), 6 + 2)
      const keys = workspaceKeys(database, before, systemClock)
      await keys.hold(tenant)
      assert.deepEqual(await opened(database, keys.seal, filled), texts)
      await assert.rejects(opened(database, before, filled), /not a sealed value/)
      assert.equal(await rotateRootSecret(database, during, quiet), 1)
      await assert.rejects(checkKeys(database, before), new RegExp(after.keyId))
      const later = workspaceKeys(database, after, systemClock)
      await later.hold(tenant)
      assert.deepEqual(await opened(database, later.seal, filled), texts)
    })

    it('is resumed where it was stopped, and nothing starts half way with one secret', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 2)
      const texts = await opened(database, before, filled)
      const stop = () => {
        throw new Error('killed')
      }
      await assert.rejects(rotateRootSecret(database, during, stop), /killed/)
      await checkRootKey(database, before)
      await assert.rejects(checkSealed(database, before), (error: Error) => {
        assert.match(error.message, new RegExp(`${after.keyId}.*PLATFORM_ROOT_SECRET_PREVIOUS`))
        return true
      })
      await assert.rejects(checkRootKey(database, after), /PLATFORM_ROOT_SECRET/)
      await assert.rejects(checkSealed(database, after), new RegExp(before.keyId))
      assert.deepEqual(await opened(database, during, filled), texts)
      await rotateRootSecret(database, during, quiet)
      assert.deepEqual(await opened(database, after, filled), texts)
    })

    it('is changed while others write: their rows stay, under whichever key', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 4)
      const [id = ''] = filled.credentials
      const rotating = rotateRootSecret(database, during, quiet)
      for (let n = 0; n < 20; n++) {
        const row = await credentialStore(database.read).active(tenant, id)
        assert.ok(row)
        const { sealed } = row
        const token = `written-${n}`
        const seal = n % 2 === 0 ? during : createSeal(first, [second])
        const access_token = seal.seal(token, `${tenant}/vault_credentials/${id}/access_token`)
        const next = { auth: row.auth, sealed: { ...sealed, access_token }, now }
        const stored = await database.write((tx) => credentialStore(tx).rotate(tenant, row, next))
        assert.equal(stored, true, 'sealing anew is no change that a refresh has to know of')
      }
      await rotating
      await rotateRootSecret(database, during, quiet)
      const row = await credentialStore(database.read).active(tenant, id)
      assert.ok(row)
      assert.equal(openSecrets(after, row).access_token, 'written-19')
      assert.ok(Object.values(row.sealed).every((value) => keyIdOf(value) === after.keyId))
    })

    it('is not changed under a running server that seals under another', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 1)
      for (const other of [before, createSeal(first, [second])]) {
        await announceRootKey(database, other)
        await assert.rejects(rotateRootSecret(database, during, quiet), /restart them/)
      }
      await opened(database, before, filled)
      await announceRootKey(database, during)
      await rotateRootSecret(database, during, quiet)
      await withdrawRootKey(database)
      await opened(database, after, filled)
      await announceRootKey(database, after)
    })

    it('once on its way lets no server start under another, and may be changed back', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 2)
      const starting = () => announceRootKey(database, before)
      const stop = () => {
        throw new Error('stopped')
      }
      await assert.rejects(rotateRootSecret(database, during, stop), /stopped/)
      await assert.rejects(starting(), new RegExp(`${after.keyId}.*PLATFORM_ROOT_SECRET`))
      const back = createSeal(first, [second])
      await rotateRootSecret(database, back, quiet)
      await opened(database, before, filled)
      await starting()
    })

    it('names the row whose value does not open', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      await checkRootKey(database, before)
      const filled = await fill(database, before, 1)
      const [id = ''] = filled.credentials
      const moved = before.seal('moved', 'elsewhere')
      await database.write((tx) =>
        tx
          .updateTable('vault_credentials')
          .set({ sealed: toJson({ access_token: moved }) })
          .where('id', '=', id)
          .execute(),
      )
      await assert.rejects(rotateRootSecret(database, during, quiet), new RegExp(id))
    })
  })
}
