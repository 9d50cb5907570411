import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { auditCalls } from '../../ground/http/route-audit.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { callCounts, callCountsJob } from './call-counts.ts'

const key = { kind: 'workspace', tenant: 't', keyId: 'apikey_1', admin: false, name: 'k' } as const
const claim: Principal = {
  kind: 'claim',
  tenant: 't',
  environmentId: 'e',
  sessionId: 's',
  workId: 'w',
  generation: 1,
  claimState: 'current',
}

describe('who posts to sessions', () => {
  it('is recorded once a minute for each session and key, but not for workers and refusals', async () => {
    await using opened = await databases.sqlite()
    const { database } = opened
    const noted = callCounts()
    const route = { method: 'post', path: '/v1/sessions/:id/events' } as const
    const exceptions = { [`post ${route.path}`]: { reason: 'the log', counted: 'session.post' } }
    const around = auditCalls(exceptions, noted.note)
    async function post(id: string, principal: Principal, run = async () => {}): Promise<void> {
      const from = { address: '192.0.2.1', header: () => undefined }
      const call = { tenant: 't', db: database, principal, params: { id }, ...from }
      await around(route, call, 'req_1', run)
    }
    for (const id of ['a', 'a', 'b']) await post(id, key)
    await post('a', claim)
    const refused = async () => Promise.reject(new Error('refused'))
    await assert.rejects(post('c', key, refused), /refused/)
    const job = callCountsJob({ databases: oneDatabase(database), clock: systemClock, noted })
    for (let n = 0; n < 2; n++) await job.run(new AbortController().signal)
    const lines = await database.read.selectFrom('audit_lines').selectAll().orderBy('id').execute()
    assert.deepEqual(
      lines.map((line) => [line.action, line.resource_id, line.actor_name, line.after_fields]),
      [
        ['session.post', 'a', 'k', '{"posts":2}'],
        ['session.post', 'b', 'k', '{"posts":1}'],
      ],
    )
  })
})
