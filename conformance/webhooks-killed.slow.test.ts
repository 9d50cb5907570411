/** A server is killed while it sends webhooks and changes counters of quotas. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { startTestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { assertToldOnce, publish, sendAll } from './killed-publication.ts'
import { localSettings, settingsIn, startServer } from './process.ts'
import { startReceiver } from './receiver.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { fresh } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import { delivered, deliveries, newEndpoint } from './webhooks.ts'

const changes = 12

const bytes = 'ten bytes.'
const headers = { 'vendor-beta': 'agent-memory-2026-07-22' }

/**
 * Starts writers that go on until the server is away. Resolves after a few answered changes with the end of all
 * writers.
 */
async function writers(service: ServiceClients): Promise<{ ended: Promise<unknown> }> {
  const { id: store } = await service.client.beta.memoryStores.create({ name: 'notes' })
  const memories = `/v1/memory_stores/${store}/memories`
  let answered = 0
  async function write(writer: number): Promise<void> {
    for (let n = 0; ; n++) {
      const { body: agent } = await service.ask('POST', '/v1/agents', {
        name: fresh('agent'),
        model: 'offline',
        tools: [],
      })
      if (n % 2) await service.ask('POST', `/v1/agents/${agent.id}/archive`)
      const note = { path: `/${writer}/${n}`, content: bytes }
      const { body: memory } = await service.ask('POST', memories, note, headers)
      if (n % 2) await service.ask('DELETE', `${memories}/${memory.id}`, undefined, headers)
      answered++
    }
  }
  const ended = Promise.allSettled([1, 2, 3, 4, 5, 6].map(write))
  await until(() => answered > 30)
  return { ended }
}

/** Asserts that the quotas count as many things as the lists show. */
async function assertCounted(service: ServiceClients): Promise<void> {
  const { beta } = service.client
  const { body } = await service.ask('GET', '/v1/ext/quotas')
  const used = Object.fromEntries(body.data.map((each) => [each['name'], each['used']]))
  const agents = await Array.fromAsync(beta.agents.list())
  const stores = await Array.fromAsync(beta.memoryStores.list())
  const memories = await Array.fromAsync(beta.memoryStores.memories.list(stores[0]?.id ?? ''))
  assert.ok(agents.length > 10 && memories.length > 10)
  assert.deepEqual(
    [used['agents'], used['memory_stores'], used['stored_bytes']],
    [agents.length, 1, memories.length * bytes.length],
  )
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`webhooks of a killed server on ${database}`, () => {
    verifies(
      [
        'webhooks/durable',
        'webhooks/at-least-once',
        'limits/quotas/agents',
        'limits/quotas/bytes',
        'integrations/deliveries/once',
        'integrations/threads',
        'integrations/answers',
      ],
      'committed deliveries are sent by the next server, attempts under way stay on record, quotas count what is there, and people are answered once',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-webhooks-'))
        const env = {
          ...(await settingsIn(folder, database)),
          ...localSettings,
        }
        await using there = await startTestEndpoint()
        const people = await startReceiver()
        there.answer(() => {})
        const first = await startServer(env)
        const { id } = await newEndpoint(clientsOf(first.base), there.url, ['vault.created'])
        for (let n = 0; n < changes; n++)
          await clientsOf(first.base).ask('POST', '/v1/vaults', { name: `v${n}` })
        await there.came(4)
        const publication = await publish(clientsOf(first.base), people)
        const { ended } = await writers(clientsOf(first.base))
        const sent = sendAll(clientsOf(first.base), publication)
        await until(() => people.posted.length > 2)
        await first.kill()
        await ended
        await sent
        // On a busy machine, attempts before these may have ended by their time limit.
        const begun = (await there.came(4)).at(-1)
        assert.ok(begun)
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
        await assertCounted(service)
        await sendAll(service, publication)
        await assertToldOnce(service, people)
        await people.close()
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}
