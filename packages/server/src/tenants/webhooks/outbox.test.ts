import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../ground/core/text/ids.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { auditStore } from '../audit/store.ts'
import { keepEvents, insertHead, agentMessage, tenant } from '../../sessions/log/fixture.ts'
import { deliveryStore } from './deliveries.ts'
import { newEndpoint } from './fixture.ts'
import { outbox } from './outbox.ts'
import { removeOldDeliveries } from './job.ts'

const seal = createSeal('a root secret of webhooks')
const day = 24 * 60 * 60 * 1000
const url = 'https://hooks.example/'

const rowsOf = ({ read }: Database) =>
  read.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute()

for (const [kind, open] of Object.entries(everyShape)) {
  describe(`the outbox on ${kind}`, () => {
    it("takes from a session's log what changes its state, and nothing else", async () => {
      await using at = await open()
      const { database } = at
      const session = await insertHead(database)
      const id = () => newId('event')
      const states = [
        { id: id(), type: 'session.status_running' },
        agentMessage('one'),
        { id: id(), type: 'session.status_rescheduled' },
        { id: id(), type: 'session.status_terminated' },
      ] as const
      await keepEvents(database, session, [...states])
      assert.deepEqual(await rowsOf(database), [])
      await newEndpoint(database, seal, { tenant, url })
      await keepEvents(database, session, [agentMessage('two'), agentMessage('three')])
      assert.deepEqual(await rowsOf(database), [])
      await keepEvents(
        database,
        session,
        states.map((event) => ({ ...event, id: id() })),
      )
      const told = await rowsOf(database)
      assert.deepEqual(
        told.map((row) => row.kind),
        ['session.running', 'session.status_rescheduled', 'session.status_terminated'],
      )
      for (const { body } of told) {
        const { data } = JSON.parse(body) as { data: Record<string, string> }
        assert.deepEqual([data['id'], data['organization_id']], [session, tenant])
      }
    })

    // verifies: webhooks/events/credential
    it('takes a refresh that failed, with the vault of its credential', async () => {
      await using at = await open()
      const { database } = at
      await newEndpoint(database, seal, {
        tenant,
        url,
        events: ['vault_credential.refresh_failed'],
      })
      const setup = { of: { vault: 'vlt_1', credential: 'vcrd_1' }, by: {}, now: 0 }
      for (const change of ['credential.refreshed', 'credential.refresh_failed'] as const)
        await database.write((tx) => auditStore(tx).changed(tenant, { change, ...setup }))
      const [row, ...rest] = await rowsOf(database)
      assert.ok(row && rest.length === 0)
      assert.deepEqual((JSON.parse(row.body) as { data: object }).data, {
        type: 'vault_credential.refresh_failed',
        id: 'vcrd_1',
        vault_id: 'vlt_1',
        organization_id: tenant,
        workspace_id: tenant,
      })
    })

    // verifies: webhooks/deliveries/kept
    it('forgets deliveries that ended a week ago, and of each endpoint all but the newest', async () => {
      await using at = await open()
      const { database } = at
      const now = 100 * day
      const [one, two] = [
        await newEndpoint(database, seal, { tenant, url, events: ['agent.created'] }),
        await newEndpoint(database, seal, { tenant, url, events: ['vault.created'] }),
      ]
      const put = (what: 'agent.created' | 'vault.created', when: number) =>
        database.write((tx) => outbox(tx).put(tenant, [what], { id: 'x' }, when))
      const end = (endpoint: string, when: number) =>
        database.write((tx) => deliveryStore(tx).drop(endpoint, when))
      for (let n = 0; n < 3; n++) await put('agent.created', now - 9 * day)
      await end(one.id, now - 8 * day)
      for (let n = 0; n < 4; n++) await put('agent.created', now - day + n)
      await end(one.id, now)
      await put('agent.created', now)
      for (let n = 0; n < 2; n++) await put('vault.created', now - 9 * day)
      const few = { most: 3, limit: 2 }
      assert.equal(await removeOldDeliveries(database, now, few), false)
      assert.equal(await removeOldDeliveries(database, now, few), true)
      const left = await rowsOf(database)
      const of = (id: string) =>
        left.filter((row) => row.endpoint_id === id).map((row) => row.created_at)
      assert.deepEqual(of(one.id), [iso(now - day + 2), iso(now - day + 3), iso(now)])
      assert.equal(of(two.id).length, 2)
    })
  })
}
