import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryBus } from '../../ground/bus/memory.ts'
import { jsonLog } from '@steward/base/log.ts'
import { iso } from '@steward/base/time.ts'
import { newToken } from '../../ground/core/security/token.ts'
import { databases } from '../../ground/database/fixture.ts'
import { createOpenAnswers } from '../../ground/http/open-answers.ts'
import { revokedKeysTopic } from './authenticate.ts'
import { startJobs } from '../../ground/core/time/jobs.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { endWithKeysJob } from './end-answers.ts'
import { apiKeyStore } from './store.ts'

const tenant = 'wrkspc_test'

for (const [dialect, open] of Object.entries(databases)) {
  describe(`answers that keys have open, on ${dialect}`, () => {
    it('end when their key expires, and when the news of its revocation is lost', async () => {
      await using opened = await open()
      const { database } = opened
      const workspace = { id: tenant, name: 'w', created_at: iso(0) }
      await database.write((tx) => tx.insertInto('workspaces').values(workspace).execute())
      const create = (expiresAt: string | null) =>
        database.write((tx) => apiKeyStore(tx).create(tenant, keyOf(expiresAt), 0))
      const [kept, lost, expiring, told] = await Promise.all(
        [null, null, iso(1_000), null].map(create),
      )
      assert.ok(kept && lost && expiring && told)
      const bus = memoryBus()
      const answers = createOpenAnswers()
      const ended: string[] = []
      for (const { id } of [kept, lost, expiring, told])
        for (const answer of ['first', 'second'])
          answers.hold(id, () => ended.push(`${answer} of ${id}`))
      const of = ({ id }: { id: string }) => [`first of ${id}`, `second of ${id}`]
      let now = 0
      let look = Promise.withResolvers<void>()
      let slept = Promise.withResolvers<void>()
      const clock = {
        now: () => now,
        sleep: async (_: number, signal: AbortSignal) => {
          slept.resolve()
          const closed = Promise.withResolvers<void>()
          signal.addEventListener('abort', () => closed.resolve())
          await Promise.race([look.promise, closed.promise])
        },
      }
      const job = endWithKeysJob({ ...testGround(database, { bus, clock }), answers })
      const jobs = startJobs([job], { clock, log: jsonLog(() => {}) })
      await slept.promise
      assert.deepEqual(ended, [])
      bus.publish(revokedKeysTopic, { hash: 'of another', id: told.id })
      assert.deepEqual(ended, of(told))
      await database.write((tx) => apiKeyStore(tx).revoke(tenant, lost.id, 1))
      now = 1_000
      slept = Promise.withResolvers()
      const next = look
      look = Promise.withResolvers()
      next.resolve()
      await slept.promise
      assert.deepEqual(new Set(ended), new Set([told, lost, expiring].flatMap(of)))
      assert.equal(ended.length, 6)
      assert.deepEqual(answers.keyIds(), [kept.id])
      await jobs.stop()
    })
  })
}

function keyOf(expiresAt: string | null) {
  const bound = { kind: 'workspace', admin: false, environmentId: null } as const
  return { key: newToken('workspace'), name: 'a key', expiresAt, ...bound }
}
