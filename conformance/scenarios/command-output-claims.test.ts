/** What workers tell of running commands: of their own session's open calls alone. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, logOf, post } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { WorkerPool } from '../workers.ts'
import { acknowledge, claimedSession, newPool } from '../workers.ts'

const output = {
  text: 'one\n',
  offset: 0,
  new_index: 0,
  new_offset: 0,
  end_offset: 4,
  total_bytes: 4,
  quiet_ms: 5,
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`a worker that reports the output of a running command, on ${database}`, () => {
    let service: TestService
    let pool: WorkerPool
    before(async () => {
      service = await boot(database)
      pool = await newPool(service)
    })
    after(() => service.close())

    const tell = async (token: string, session: string, body: object) => {
      const headers = { 'x-api-key': '', authorization: `Bearer ${token}` }
      const path = `/v1/ext/command-output/${session}`
      return service.ask<{ is_wanted: boolean }>('POST', path, body, headers)
    }

    verifies(
      ['worker/command-output'],
      'is heard for its open calls while somebody listens, and refused beyond its claim',
      async () => {
        const claimed = await claimedSession(service, pool, 'run: make')
        const { session, token } = claimed
        await acknowledge(service, pool, claimed.work)
        const call = await claimed.call()
        const report = { tool_use_id: call, output }
        assert.equal((await tell(token, session, report)).body.is_wanted, false)
        const stream = `/v1/sessions/${session}/events/stream`
        await using listener = await openStream(service, `${stream}?include=chunks`)
        assert.equal((await tell(token, session, { tool_use_id: call })).body.is_wanted, true)
        const other = { tool_use_id: 'sevt_of_nobody', output }
        assert.equal((await tell(token, session, other)).body.is_wanted, false)
        assert.equal((await tell(token, session, report)).body.is_wanted, true)
        await listener.untilType('agent.tool_use_output_chunk')
        const long = { ...output, text: 'x'.repeat(4_097) }
        const refused = await tell(token, session, { tool_use_id: call, output: long })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /output\.text/)
        for (const untrue of [
          { offset: 1 },
          { end_offset: 5 },
          { new_index: 5 },
          { total_bytes: 3 },
        ]) {
          const answer = await tell(token, session, { ...report, output: { ...output, ...untrue } })
          assert.equal(answer.status, 400, JSON.stringify(untrue))
          assert.match(JSON.stringify(answer.body), /output: .*must not fall/)
        }
        const strange = await claimedSession(service, pool, 'run: make')
        assert.equal((await tell(token, strange.session, report)).status, 403)
        const result = { type: 'user.tool_result', tool_use_id: call } as const
        await post(service, session, { ...result, content: [{ type: 'text', text: 'made' }] })
        assert.equal((await tell(token, session, report)).body.is_wanted, false)
        const seen = listener.frames.map(({ data }) => data)
        const chunks = all(seen, 'agent.tool_use_output_chunk')
        assert.deepEqual(
          chunks.map(({ delta, tool_use_id }) => [delta, tool_use_id]),
          [['one\n', call]],
        )
        const log = await logOf(service, session)
        assert.deepEqual(all(log, 'agent.tool_use_output_chunk'), [])
      },
    )
  })
}
