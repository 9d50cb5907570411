import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import type { StubAnswer, StubReply, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { systemClock } from '@steward/base/time.ts'
import { retryDelaysMs } from '@steward/server/engine/runner/assemble.ts'
import { openStream, untilIdle } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, fresh, idleOf, logOf, newSession, only } from '../turns.ts'
import { post, textOf, turn, types } from '../turns.ts'
import type { SeenEvent } from '../turns.ts'
import { verifies } from '../verifies.ts'

/** Pauses between attempts end at once, unless the test sets this promise. */
let pause: Promise<void> | undefined
const clock = {
  ...systemClock,
  async sleep(ms: number, signal: AbortSignal) {
    if (!retryDelaysMs.includes(ms)) return systemClock.sleep(ms, signal)
    await Promise.race([pause, new Promise((done) => signal.addEventListener('abort', done))])
  },
}

const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: text.split(/(?= )/) }],
  stop: 'end_turn',
})
const errorOf = (event: SeenEvent) =>
  event['error'] as { type: string; message: string; retry_status: { type: string } }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`model failures on ${database}`, () => {
    let service: TestService
    /** Number of writes until one fails. */
    let writesLeft = 0
    let stub: StubModel
    let model: { id: string }
    before(async () => {
      service = await boot(database, {
        overrides: {
          clock,
          database: (built) => ({
            ...built,
            writeStatement: (statement) => {
              if (--writesLeft === 0) return Promise.reject(new Error('canary of the inside'))
              return built.writeStatement(statement)
            },
          }),
        },
      })
      stub = await startStub(openaiChatDialect)
      stub.replies(says('OK'))
      model = { id: fresh('stub').replace(' ', '-') }
      await service.ask('POST', '/v1/ext/model_cards', {
        model_id: model.id,
        provider: 'oai-compatible',
        model: 'stub-1',
        base_url: stub.url,
        api_key: 'sk-test-0123456789',
      })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    async function answered(...replies: StubReply[]): Promise<SeenEvent[]> {
      const session = await newSession(service, { model })
      stub.replies(...replies)
      return turn(service, session, 'hello')
    }
    const overloaded = { status: 503, error: 'overloaded', message: 'too busy' }
    const limited = { status: 429, error: 'rate_limited', message: 'slow down' }

    verifies(
      [
        'running/error/rescheduled',
        'running/error/overloaded',
        'running/error/rate-limited',
        'running/error/retry-status',
        'sessions/transition/reschedule',
        'events/type/status-rescheduled',
        'events/type/error',
        'turns/spans',
      ],
      'a failure that passes is announced, waited for and tried again',
      async () => {
        const seen = await answered(overloaded, limited, says('there'))
        const errors = all(seen, 'session.error').map(errorOf)
        assert.deepEqual(
          errors.map(({ type, retry_status }) => [type, retry_status.type]),
          [
            ['model_overloaded_error', 'retrying'],
            ['model_rate_limited_error', 'retrying'],
          ],
        )
        assert.equal(all(seen, 'session.status_rescheduled').length, 2)
        const ends = all(seen, 'span.model_request_end').map((each) => each['is_error'])
        assert.deepEqual(ends, [true, true, false])
        assert.equal(textOf(only(seen, 'agent.message')), 'there')
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
      },
    )

    verifies(
      ['turns/stop/retries-exhausted', 'running/error/retry-status'],
      'a model that stays away ends the turn, and the next one may work',
      async () => {
        const session = await newSession(service, { model })
        stub.replies({ status: 500, error: 'server_error', message: 'broken' })
        const seen = await turn(service, session, 'hello')
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'retries_exhausted' })
        const last = all(seen, 'session.error').map(errorOf).at(-1)
        assert.equal(last?.retry_status.type, 'exhausted')
        stub.replies(says('back again'))
        const next = await turn(service, session, 'and now?')
        assert.equal(textOf(only(next, 'agent.message')), 'back again')
      },
    )

    verifies(
      ['running/error/request-failed', 'running/error/billing'],
      'a failure that will not pass is not tried again',
      async () => {
        for (const [reply, type] of [
          [{ status: 400, error: 'invalid_request', message: 'no' }, 'model_request_failed_error'],
          [{ status: 401, error: 'auth', message: 'no' }, 'model_request_failed_error'],
          [{ status: 402, error: 'billing', message: 'pay' }, 'billing_error'],
        ] as const) {
          const requests = stub.requests.length
          const seen = await answered(reply)
          assert.equal(stub.requests.length, requests + 1)
          assert.equal(errorOf(only(seen, 'session.error')).type, type)
          assert.equal(errorOf(only(seen, 'session.error')).retry_status.type, 'exhausted')
        }
      },
    )

    verifies(
      ['turns/spans', 'running/error/request-failed'],
      'garbage, half a stream and a cut connection are failures, and not silence',
      async () => {
        const half = { answer: says('one two three'), frames: 3, after: 'cut' } as const
        for (const reply of [
          { body: 'nonsense', contentType: 'text/plain' },
          { body: 'data: {"broken\n\n', contentType: 'text/event-stream' },
          half,
        ]) {
          const seen = await answered(reply, says('at last'))
          assert.ok(all(seen, 'session.error').length > 0, types(seen).join())
          const starts = all(seen, 'span.model_request_start').length
          assert.equal(all(seen, 'span.model_request_end').length, starts)
          assert.equal(seen.at(-1)?.type, 'session.status_idle')
        }
      },
    )

    verifies(
      ['running/recovery/nothing-lost', 'running/recovery/valid-history', 'events/seq/gap-free'],
      'a write that fails in the middle of a turn loses nothing, and the turn goes on',
      async () => {
        // The writes are the post, the claim of the turn, and the end of the turn.
        for (const failing of [2, 3]) {
          const session = await newSession(service)
          service.logged.length = 0
          writesLeft = failing
          const seen = await turn(service, session, 'say: all the same')
          assert.equal(textOf(only(seen, 'agent.message')), 'all the same')
          const starts = all(seen, 'span.model_request_start').map(({ id }) => id)
          const ends = all(seen, 'span.model_request_end')
          assert.deepEqual(
            ends.map((end) => end['model_request_start_id']),
            starts,
          )
          const log = await logOf(service, session)
          assert.deepEqual(
            log.map(({ seq }) => seq),
            log.map((_, index) => index + 1),
          )
          assert.ok(service.logged.some((line) => line.includes('canary of the inside')))
        }
      },
    )

    verifies(['turns/stop/refusal'], 'a refusal is a stop reason of its own', async () => {
      const session = await newSession(service)
      const seen = await turn(service, session, 'say: No.\nstop: refusal')
      assert.deepEqual(idleOf(seen).stop_reason, { type: 'refusal' })
    })

    verifies(
      ['turns/interrupt', 'events/ext/prefix'],
      'an interrupt stops a model in the middle of its text, and keeps no half message unmarked',
      async () => {
        const session = await newSession(service, { model })
        stub.replies({ answer: says('one two three'), frames: 3, after: 'hang' })
        const path = `/v1/sessions/${session}/events/stream?include=chunks`
        await using reader = await openStream(service, path)
        await post(service, session, 'hello')
        await reader.untilType('agent.message_chunk')
        const before = Date.now()
        await post(service, session, { type: 'user.interrupt' })
        await reader.untilType('session.status_idle')
        assert.ok(Date.now() - before < 1500)
        const log = await logOf(service, session)
        assert.deepEqual(idleOf(log).stop_reason, { type: 'end_turn' })
        only(log, 'span.model_request_end')
        stub.replies(says('again'))
        const next = await turn(service, session, 'once more')
        assert.equal(textOf(only(next, 'agent.message')), 'again')
      },
    )

    verifies(
      ['sessions/status/rescheduling', 'dialects/session-status'],
      'between attempts the session is rescheduling to the client, and running to others',
      async () => {
        const held = Promise.withResolvers<void>()
        pause = held.promise
        const session = await newSession(service, { model })
        stub.replies(overloaded, says('done'))
        await using reader = await openStream(service, `/v1/sessions/${session}/events/stream`)
        await post(service, session, 'hello')
        await reader.untilType('session.status_rescheduled')
        const { status } = await service.client.beta.sessions.retrieve(session)
        const ours = (await service.ask('GET', `/v1/sessions/${session}`)).body['status']
        assert.deepEqual([status, ours], ['rescheduling', 'running'])
        const found = async (query: string, headers = {}) =>
          (await service.ask('GET', `/v1/sessions?${query}`, undefined, headers)).body.data.some(
            ({ id }) => id === session,
          )
        const client = { 'anthropic-version': '2026-10-21' }
        const answers = [
          await found('statuses[]=rescheduling', client),
          await found('statuses[]=running', client),
          await found('status=running'),
        ]
        pause = undefined
        held.resolve()
        assert.deepEqual(answers, [true, false, true])
        await untilIdle(service, session)
      },
    )
  })
}
