import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import { jsonLog } from '@steward/base/log.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { credentialStore, sealedContext } from '../../../resources/vaults/credentials.ts'
import { archiveVault } from '../../../resources/vaults/write.ts'
import { withAppAccess } from './app-access.ts'
import { sealTokens, findInstallationToken } from './token.ts'
import { linearApp } from '../linear/app.ts'
import { renewJob } from './renew-job.ts'
import type { Send } from '../answers/send.ts'
import { rows } from '../../../ground/database/rows.ts'

const tenant = 'wrkspc_1'
const [installation, id] = ['inst_1', 'pub_1']
const seal = createSeal('a root secret for tests')
const hourMs = 60 * 60_000

/** A provider whose tokens last for a day, and a publication of an installation whose token has ended. */
async function published(open: (typeof databases)['sqlite']) {
  const opened = await open()
  const { database: db, bus } = opened
  const clock = movedClock()
  const asked: string[] = []
  let isRefusing = false
  let isEnding = false
  const endInstallation = () =>
    db.write(async (tx) => {
      const kept = await rows(tx, 'installations').findForUpdate(tenant, installation)
      assert.ok(kept)
      await rows(tx, 'installations').update(kept, { status: 'revoked' })
    })
  const sendToProvider: Send = async ({ body }) => {
    asked.push(body ?? '')
    if (isEnding) await endInstallation()
    const n = asked.length
    const grant = { access_token: `access-${n}`, refresh_token: `refresh-${n}`, expires_in: 86_400 }
    return isRefusing
      ? { status: 400, retryAfter: null, body: '{"error":"invalid_grant"}' }
      : { status: 200, retryAfter: null, body: JSON.stringify(grant) }
  }
  const settings = { clientId: 'client', clientSecret: 'secret', webhookSecret: 'x'.repeat(32) }
  const urls = { url: 'https://tracker.example', apiUrl: 'https://api.tracker.example' }
  const app = linearApp({ ...settings, ...urls })
  const deps = {
    ...testGround(db, { bus, clock, seal }),
    ...{ apps: new Map([[app.id, app]]), sendToProvider },
  }
  const at = iso(clock.now())
  const tokens = { access: 'access-0', refresh: 'refresh-0', expiresMs: 0 }
  await db.write(async (tx) => {
    await rows(tx, 'installations').insert({
      ...{ tenant_id: tenant, id: installation, integration: 'linear', external_id: 'org-1' },
      ...{ external_name: 'Acme', bot_user_id: null, scopes: [], status: 'active' },
      ...{ token_owner: null, token_until_ms: 0, created_at: at, updated_at: at },
      sealed_tokens: sealTokens(seal, { tenant, id: installation }, tokens),
    })
    await rows(tx, 'publications').insert({
      ...{ tenant_id: tenant, id, integration: 'linear', installation_id: installation },
      ...{ agent_id: 'agent_1', agent_version: null, environment_id: 'env_1', status: 'live' },
      ...{
        vault_id: null,
        token_due_ms: null,
        sealed_secrets: null,
        known_ids: null,
        metadata: {},
      },
      ...{ created_at: at, updated_at: at },
      spec: { vault_ids: [], app_access: true, linear: { teams: [], authors: [] } },
    })
  })
  const { signal } = new AbortController()
  const context = { db, tenant, signal }
  const publication = () => rows(db.read, 'publications').get(tenant, id)
  return {
    ...{ db, clock, bus, asked, publication },
    refuse: () => void (isRefusing = true),
    endMeanwhile: () => void (isEnding = true),
    access: async () => withAppAccess(deps, context, await publication()),
    async token() {
      const row = await rows(db.read, 'installations').find(tenant, installation)
      assert.ok(row)
      return findInstallationToken(deps, db, row, { signal })
    },
    status: async () => (await rows(db.read, 'installations').find(tenant, installation))?.status,
    /** The opened secrets of all credentials in the vault. */
    async held(vault: string | null): Promise<string[]> {
      const all = await credentialStore(db.read).allActive(tenant, vault ?? '')
      const rows = await Promise.all(
        all.map((each) => credentialStore(db.read).active(tenant, each.id)),
      )
      return rows.flatMap((row) =>
        Object.entries(row?.sealed ?? {}).map(([part, sealed]) =>
          seal.open(sealed, sealedContext(tenant, row?.id ?? '', part as 'token')),
        ),
      )
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

for (const [name, open] of Object.entries(databases)) {
  describe(`tokens of apps on ${name}`, () => {
    it('lie in one vault of the publication, and are renewed there before they end', async () => {
      await using given = await published(open)
      const { vault_id } = await given.access()
      assert.deepEqual(await given.held(vault_id), ['access-1', 'access-1'])
      await given.clock.pass(20 * hourMs)
      await given.access()
      assert.equal(given.asked.length, 1)
      await given.clock.pass(4 * hourMs)
      assert.equal((await given.access()).vault_id, vault_id)
      assert.deepEqual(await given.held(vault_id), ['access-2', 'access-2'])
      assert.ok(given.asked[1]?.includes('refresh_token=refresh-1'))
    })

    it('come into the vault at once when another use has got a new one', async () => {
      await using given = await published(open)
      const { db, clock, bus } = given
      const workspace = { id: tenant, name: 'one', archived_at: null, deleted_at: null }
      await db.write((tx) =>
        tx
          .insertInto('workspaces')
          .values({ ...workspace, created_at: iso(0) })
          .execute(),
      )
      const { vault_id } = await given.access()
      // The installation needs a new token a little before the vault does.
      await clock.pass(24 * hourMs)
      await db.write(async (tx) => {
        const kept = await rows(tx, 'publications').getForUpdate(tenant, id)
        await rows(tx, 'publications').update(kept, { token_due_ms: clock.now() + hourMs })
      })
      const job = renewJob({
        ...testGround(db, { bus, clock, log: jsonLog((line) => assert.fail(line)) }),
        renewAccess: given.access,
        renewCheckout: () => assert.fail('no thread has a repository'),
      })
      let rings = 0
      const stop = job.start?.(() => void rings++)
      await given.token()
      assert.equal(rings, 1)
      await job.run(new AbortController().signal)
      assert.deepEqual(await given.held(vault_id), ['access-2', 'access-2'])
      assert.equal(rings, 1, 'a renewed vault wakes nobody')
      await stop?.()
    })

    it('come into no vault once the installation has ended', async () => {
      await using given = await published(open)
      given.endMeanwhile()
      await assert.rejects(given.access(), /install the app again/)
      assert.equal((await given.publication()).vault_id, null)
    })

    it('are asked for once, whoever else needs one at that moment', async () => {
      await using given = await published(open)
      const found = await Promise.all(Array.from({ length: 6 }, () => given.token()))
      assert.equal(given.asked.length, 1)
      for (const each of found)
        assert.ok(each.kind === 'held' || (each.kind === 'token' && each.token === 'access-1'))
    })

    it('are waited for by whoever needs one for a vault meanwhile', async () => {
      await using given = await published(open)
      const all = Promise.all([given.token(), given.access(), given.access()])
      let isEnded = false
      void all.then(() => (isEnded = true))
      // Time passes only while somebody waits.
      while (!isEnded) await given.clock.pass(given.clock.sleeping() > 0 ? 250 : 0)
      const [, { vault_id }] = await all
      assert.equal(given.asked.length, 1)
      assert.deepEqual(await given.held(vault_id), ['access-1', 'access-1'])
    })

    it('that the provider refuses have the installation and its publications wait for their people', async () => {
      await using given = await published(open)
      given.refuse()
      assert.deepEqual(await given.token(), { kind: 'refused' })
      assert.equal(await given.status(), 'needs_reauth')
      assert.equal((await given.publication()).status, 'needs_reauth')
      await assert.rejects(given.access(), PlatformError)
      assert.equal(given.asked.length, 1, 'a refused credential is not sent again')
    })

    it('do not come back into a vault that its people have archived', async () => {
      await using given = await published(open)
      const { vault_id } = await given.access()
      await given.db.write((tx) =>
        archiveVault(
          { tx, tenant, seal, keyId: null, isAdmin: false, now: given.clock.now() },
          vault_id ?? '',
        ),
      )
      await given.clock.pass(24 * hourMs)
      assert.deepEqual((await given.access()).vault_id, vault_id)
      assert.equal((await given.publication()).token_due_ms, null)
      assert.deepEqual(await given.held(vault_id), [])
    })
  })
}
