import assert from 'node:assert/strict'
import type { TokenDeps } from './token.ts'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import { memoryBus } from '../../../ground/bus/memory.ts'
import { PlatformError, StorageError } from '../../../ground/core/errors.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import type { Database } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { openForRaces } from '../../../ground/database/race-fixture.ts'
import { dyingDatabase } from '../../../sessions/fixture.ts'
import type { App } from './app.ts'
import { beginInstall, finishInstall } from './installations.ts'
import { linearApp } from '../linear/app.ts'
import { externalAccounts } from './external-accounts.ts'
import { rows } from '../../../ground/database/rows.ts'

const [one, other] = ['wrkspc_one', 'wrkspc_other']
const base = 'https://steward.example.com'
const refuse = () => assert.fail('nothing is sent')

/** Linear, where everybody installs the app in the same organisation. */
const app: App = {
  ...linearApp({
    ...{ clientId: 'id', clientSecret: 'secret', webhookSecret: 'signs' },
    ...{ url: 'https://linear.app', apiUrl: 'https://api.linear.app' },
  }),
  finish: async () => ({
    ...{
      externalId: '42',
      externalName: 'acme',
      botUserId: null,
      scopes: [],
      tokens: { access: 'a' },
    },
  }),
}

async function workspacesOn(database: Database) {
  const clock = movedClock()
  const created_at = iso(0)
  const rows = [one, other].map((id) => ({ id, name: id, archived_at: null, deleted_at: null }))
  await database.write((tx) =>
    tx
      .insertInto('workspaces')
      .values(rows.map((row) => ({ ...row, created_at })))
      .execute(),
  )
  const depsOn = (db: Database): TokenDeps => ({
    ...{ databases: oneDatabase(db), bus: memoryBus(), clock, log: jsonLog(refuse) },
    ...{ seal: createSeal('a root secret of a test'), apps: new Map([['linear', app]]) },
    sendToProvider: refuse,
  })
  /** `by`: the database of the process that finishes the installation. */
  async function install(tenant: string, by = database): Promise<string> {
    const asked = { tenant, user: null, integration: 'linear', base } as const
    const { url } = await beginInstall(depsOn(database), asked)
    const query = new URL(url).searchParams
    const { signal } = new AbortController()
    const returned = { query, user: undefined, integration: 'linear', base } as const
    return (await finishInstall(depsOn(by), returned, signal)).id
  }
  return { clock, install }
}

const isTaken = (error: unknown) => error instanceof PlatformError && error.kind === 'conflict'

for (const [name, open] of Object.entries(databases)) {
  describe(`an external workspace on ${name}`, () => {
    it('serves another workspace some time after a process died before it stored the installation', async () => {
      await using opened = await open()
      const { database } = opened
      const { clock, install } = await workspacesOn(database)
      // The process takes the state and claims the place. It stores no installation and does not give the place back.
      await assert.rejects(install(one, dyingDatabase(database, 3)), StorageError)
      await assert.rejects(install(other), isTaken)
      await clock.pass(10 * 60_000)
      const id = await install(other)
      const kept = await rows(database.read, 'installations').find(other, id)
      assert.equal(kept?.status, 'active')
      await clock.pass(60 * 60_000)
      await assert.rejects(install(one), isTaken, 'an installation that is there keeps its place')
    })

    it('is kept for a workspace that tries again what its process did not finish', async () => {
      await using opened = await open()
      const { database } = opened
      const { clock, install } = await workspacesOn(database)
      await assert.rejects(install(one, dyingDatabase(database, 3)), StorageError)
      await clock.pass(9 * 60_000)
      await assert.rejects(install(one, dyingDatabase(database, 3)), StorageError)
      await clock.pass(9 * 60_000)
      await assert.rejects(install(other), isTaken)
      await install(one)
    })
  })
}

describe('an external workspace', () => {
  it('is not released while another installation claims it', async () => {
    await using at = await openForRaces()
    const { database, race } = at
    const account = { integration: 'linear', external_id: '42' } as const
    const kept = { ...account, tenant_id: one, installation_id: 'inst_1' }
    await database.write((tx) => externalAccounts(tx).claim(kept))
    const [claimed, left] = await race(
      (tx) =>
        externalAccounts(tx).claim({ ...account, tenant_id: other, installation_id: 'inst_2' }),
      (tx) => externalAccounts(tx).leave(one, 'inst_1'),
    )
    assert.deepEqual(claimed, { status: 'fulfilled', value: kept })
    assert.equal(left.status, 'fulfilled')
  })
})
