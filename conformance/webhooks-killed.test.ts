/** Webhooks of a server that is lost in the middle of sending them. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { receiver } from '@steward/server/tenants/webhooks/fixture.ts'
import { startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { verifies } from './verifies.ts'
import { delivered, deliveries, newEndpoint } from './webhooks.ts'

const changes = 12

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`webhooks of a killed server on ${database}`, () => {
    verifies(
      ['webhooks/durable', 'webhooks/at-least-once'],
      'what was committed is sent by the next one, what was under way stays on record',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-webhooks-'))
        const env = {
          DATA_DIR: folder,
          SANDBOX_DIR: join(folder, 's'),
          SANDBOX_PROVIDER: 'local',
          EGRESS_PROFILE: 'best_effort',
          EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
          EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
          ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
        }
        await using there = await receiver()
        there.answer(() => {})
        const first = await startServer(env)
        const { id } = await newEndpoint(clientsOf(first.base), there.url, ['vault.created'])
        for (let n = 0; n < changes; n++)
          await clientsOf(first.base).ask('POST', '/v1/vaults', { name: `v${n}` })
        const [begun] = await there.came(4)
        assert.ok(begun)
        await first.kill()
        there.answer((response) => void response.writeHead(204).end())
        await using second = await startServer(env)
        const service = clientsOf(second.base)
        const well = (all: { status: string }[]) =>
          all.filter(({ status }) => status === 'delivered').length
        await delivered(service, id, (all) => well(all) === changes - 4)
        const left = await deliveries(service, id, '&status=waiting')
        assert.equal(left.length, 4)
        assert.ok(left.some(({ event_id }) => event_id === begun.headers['webhook-id']))
        for (const { next_attempt_at } of left)
          assert.ok(Date.parse(next_attempt_at ?? '') - Date.now() < 60_000)
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}
