import { noRules } from '../../ground/core/rules/rules.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { Databases } from '../../ground/database/database.ts'
import { openFilePerTenant } from '../../ground/database/per-tenant/fixture.ts'
import { dyingDatabase } from '../../sessions/fixture.ts'
import { dispatchJob } from './dispatch.ts'
import { newEndpoint } from './fixture.ts'
import { outbox } from './outbox.ts'

const tenants = ['wrkspc_a', 'wrkspc_b'] as const

/** The first database that jobs visit refuses each write. */
const withFirstAway = (databases: Databases): Databases => ({
  ...databases,
  async *due() {
    let isFirst = true
    for await (const database of databases.due()) {
      yield isFirst ? dyingDatabase(database, 1) : database
      isFirst = false
    }
  },
})

describe('webhooks of workspaces with a database each', () => {
  it('go out where the database of another workspace refuses writes', async () => {
    await using at = await openFilePerTenant(tenants)
    const seal = createSeal('a root secret of webhooks')
    for (const tenant of tenants) {
      const database = await at.databases.open(tenant)
      await newEndpoint(database, seal, { tenant, url: `http://${tenant}.example/` })
      await database.write((tx) => outbox(tx).put(tenant, ['agent.created'], { id: 'agent_1' }, 0))
    }
    const sent: string[] = []
    const post = async ({ url }: { url: string }) => {
      sent.push(url)
      return { status: 204 }
    }
    const job = dispatchJob({
      ...{ databases: withFirstAway(at.databases), bus: memoryBus(), seal, clock: systemClock },
      ...{ log: jsonLog(() => {}, 'error'), post, postHint: post, hint: undefined, rules: noRules },
    })
    const stop = job.start?.(() => {})
    await assert.rejects(job.run(AbortSignal.timeout(60_000)), StorageError)
    await stop?.()
    assert.equal(sent.length, 1)
  })
})
