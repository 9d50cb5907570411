import assert from 'node:assert/strict'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../../sessions/opening-fixture.ts'
import type { App } from '../installations/app.ts'
import { changeInstallation } from '../installations/installations.ts'
import { linearApp } from '../linear/app.ts'
import { externalAccounts } from '../installations/external-accounts.ts'
import type { PublicationDeps } from '../publications.ts'
import {
  createPublication,
  deletePublication,
  mostPublications,
  setPaused,
} from '../publications.ts'
import { keepGenuine } from './receive-app.ts'
import { integrationStore } from '../store.ts'
import { rows } from '../../../ground/database/rows.ts'

const integration = 'linear'
const installation = 'inst_1'
const linear = linearApp({
  ...{ clientId: 'id', clientSecret: 'secret', webhookSecret: 'signs' },
  ...{ url: 'https://linear.app', apiUrl: 'https://api.linear.app' },
})

/** A workspace with an installation of the app. */
async function installed(db: Database, app: App = linear) {
  const { agent, environment } = await agentIn(db)
  const created_at = iso(0)
  const account = { integration, external_id: 'acme', tenant_id: tenant } as const
  await db.write(async (tx) => {
    const workspace = { id: tenant, name: 'one', archived_at: null, deleted_at: null, created_at }
    await tx.insertInto('workspaces').values(workspace).execute()
    await externalAccounts(tx).claim({ ...account, installation_id: installation })
    await rows(tx, 'installations').insert({
      ...{ ...account, id: installation, external_name: 'Acme', bot_user_id: null, scopes: [] },
      ...{ status: 'active', sealed_tokens: null, token_owner: null, token_until_ms: 0 },
      ...{ created_at, updated_at: created_at },
    })
  })
  const opening = createOpening(db)
  const apps = new Map([[integration, app]] as const)
  const deps: PublicationDeps = { ...opening, apps, publicUrl: undefined }
  /** `by`: the database of the process that creates the publication. */
  const publish = (team: string, by = db) =>
    createPublication(
      deps,
      { db: by, tenant },
      {
        ...{ integration, origin: 'https://steward.example.com' },
        body: {
          ...{ agent, environment_id: environment, installation_id: installation },
          linear: { teams: [team], authors: ['ada'], members: null },
        },
      },
    )
  const limits: Limits = {
    ...opening.limits,
    admit: () => assert.fail('the delivery is genuine'),
  }
  const end = () =>
    changeInstallation(
      deps,
      { tenant_id: tenant, installation_id: installation },
      { kind: 'revoked', atMs: null },
    )
  return {
    deps,
    publish,
    end,
    receive: (body: Uint8Array) =>
      keepGenuine({ ...opening, limits, apps }, { integration, id: '1', body }),
  }
}

const isRevoked = (error: unknown) => {
  assert.ok(error instanceof PlatformError && error.kind === 'invalid_request')
  assert.match(error.message, /^installation_id: inst_1 is revoked; install the app again$/)
  return true
}

const delivery = Buffer.from(JSON.stringify({ organizationId: 'acme', type: 'Issue' }))

for (const [name, open] of Object.entries(databases)) {
  describe(`a delivery of an app on ${name}`, () => {
    it('is parsed once for all publications, and others have their turn between these', async () => {
      await using opened = await open()
      const order: string[] = []
      const read: App['adapter']['read'] = (body) => {
        order.push('parsed')
        const incomingFor = linear.adapter.read(body)
        return (spec) => {
          order.push('read')
          setImmediate(() => order.push('others'))
          return incomingFor(spec)
        }
      }
      const app = { ...linear, adapter: { ...linear.adapter, read } }
      const { publish, receive } = await installed(opened.database, app)
      for (const team of ['A', 'B', 'C']) await publish(team)
      await receive(delivery)
      assert.deepEqual(order.slice(0, 6), ['parsed', 'read', 'others', 'read', 'others', 'read'])
    })
  })

  describe(`the publications of an installation on ${name}`, () => {
    // verifies: integrations/publications/create
    it('are at most 100', async () => {
      await using opened = await open()
      const { database: db } = opened
      const { deps, publish } = await installed(db)
      const { id } = await publish('A')
      await db.write(async (tx) => {
        const row = await rows(tx, 'publications').get(tenant, id)
        for (let n = 1; n < mostPublications; n++)
          await rows(tx, 'publications').insert({ ...row, id: `pub_${n}` })
      })
      await assert.rejects(publish('B'), (error) => {
        assert.ok(error instanceof PlatformError && error.kind === 'invalid_request')
        assert.match(error.message, /^installation_id: inst_1 has 100 publications.*delete one/)
        return true
      })
      await deletePublication(deps, { db, tenant }, { integration, id })
      await publish('B')
    })

    it('are none where the installation ends before the publication is stored', async () => {
      await using opened = await open()
      const { database: db } = opened
      const { publish, end } = await installed(db)
      const late: Database = {
        ...db,
        async write(unit) {
          await end()
          return db.write(unit)
        },
      }
      await assert.rejects(publish('A', late), isRevoked)
      assert.deepEqual(await integrationStore(db.read).publicationsOf(tenant, installation), [])
    })

    it('stay paused when the installation has ended', async () => {
      await using opened = await open()
      const { database: db } = opened
      const { deps, publish, end } = await installed(db)
      const { id } = await publish('A')
      await setPaused(deps, { db, tenant }, { integration, id }, true)
      await end()
      const unpaused = setPaused(deps, { db, tenant }, { integration, id }, false)
      await assert.rejects(unpaused, isRevoked)
      assert.equal((await rows(db.read, 'publications').get(tenant, id)).status, 'paused')
    })
  })
}
