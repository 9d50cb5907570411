import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { WorkerShown } from '@steward/protocol/work.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { message } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { newPool, sessionIn } from '../workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the workers of an environment on ${database}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    verifies(
      ['work/workers', 'work/workers/seen'],
      'workers are listed by their names, with what each holds',
      async () => {
        const pool = await newPool(service)
        const listed = async () =>
          (
            await service.ask<{ data: WorkerShown[] }>(
              'GET',
              `/v1/ext/environments/${pool.environment}/workers`,
            )
          ).body.data
        assert.deepEqual(await listed(), [])
        const session = await sessionIn(service, pool)
        await service.client.beta.sessions.events.send(session, { events: [message('call bash')] })
        const as = (name: string) => ({
          ...{ 'x-api-key': '', authorization: `Bearer ${pool.key}`, 'anthropic-worker-id': name },
        })
        const polls = (name: string) =>
          service.ask<{ id: string } | null>('GET', `${pool.path}/work/poll`, undefined, as(name))
        const { body: item } = await polls('machine-1')
        passed += 1_000
        await polls('machine-2')
        const [idle, busy] = await listed()
        assert.deepEqual(
          [idle?.name, idle?.is_polling, idle?.claims, idle?.key_id],
          ['machine-2', true, [], null],
        )
        assert.deepEqual([busy?.name, busy?.key_id], ['machine-1', pool.keyId])
        assert.deepEqual(busy?.claims, [
          { work_id: item?.id, session_id: session, state: 'queued', latest_heartbeat_at: null },
        ])
        const path = `${pool.path}/work/${item?.id}/heartbeat`
        await service.ask('POST', path, undefined, as('machine-1'))
        passed += 60_000
        const seen = await listed()
        assert.deepEqual(
          seen.map(({ name, is_polling, claims }) => [name, is_polling, claims[0]?.state]),
          [
            ['machine-1', false, 'active'],
            ['machine-2', false, undefined],
          ],
        )
        passed += 60_000
        assert.deepEqual(
          (await listed()).flatMap(({ claims }) => claims),
          [],
          'the lease has run out',
        )
      },
    )
  })
}
