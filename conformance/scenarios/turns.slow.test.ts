import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import { startHeldModel } from '../held-model.ts'
import { openStream, untilIdle } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { PostedEvent } from '../turns.ts'
import { all, custom, idleOf, logOf, message, newSession, only, post } from '../turns.ts'
import { result, say, textOf, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`turns on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const events = () => service.client.beta.sessions.events

    verifies(
      [
        'turns/run-started-first',
        'turns/idle-last',
        'turns/usage-before-idle',
        'turns/spans',
        'turns/stop/end-turn',
        'sessions/transition/run',
        'sessions/transition/idle',
        'events/type/user-message',
        'events/type/message',
        'events/type/status-run-started',
        'events/type/status-running',
        'events/type/status-idle',
        'events/type/usage',
        'events/type/model-request-start',
        'events/type/model-request-end',
      ],
      'a message is answered in one order of events, and the idle is the last of them',
      async () => {
        const session = await newSession(service)
        const seen = await turn(service, session, 'say: hello there')
        const order = [
          'user.message',
          'session.status_running',
          'span.model_request_start',
          'agent.message',
          'span.model_request_end',
          'session.usage',
          'session.status_idle',
        ]
        assert.deepEqual(types(seen), order)
        const started = 'session.status_run_started'
        assert.deepEqual(types(await logOf(service, session)), [started, ...order])
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
        assert.equal(textOf(only(seen, 'agent.message')), 'hello there')
        const end = only(seen, 'span.model_request_end')
        assert.equal(end['model_request_start_id'], only(seen, 'span.model_request_start').id)
        assert.equal(end['is_error'], false)
        assert.deepEqual(await say(service, session), seen)
        assert.equal((await service.client.beta.sessions.retrieve(session)).status, 'idle')
      },
    )

    verifies(
      'turns/usage-before-idle',
      'usage grows from turn to turn, and the session shows the same totals',
      async () => {
        const session = await newSession(service)
        const first = only(await turn(service, session, 'say: one'), 'session.usage')
        const second = only(await turn(service, session, 'say: two'), 'session.usage')
        type TurnUsage = { input_tokens: number; output_tokens: number }
        const [before, after] = [first['usage'] as TurnUsage, second['usage'] as TurnUsage]
        assert.ok(before.input_tokens > 0 && before.output_tokens > 0)
        assert.ok(after.output_tokens > before.output_tokens)
        const { usage } = await service.client.beta.sessions.retrieve(session)
        assert.equal(usage.output_tokens, after.output_tokens)
      },
    )

    verifies(
      ['events/type/thinking', 'turns/idle-last'],
      'thinking is an event of its own, before the message',
      async () => {
        const session = await newSession(service)
        const seen = await turn(service, session, 'think: let me see\nsay: yes')
        assert.deepEqual(
          types(seen).filter((type) => type.startsWith('agent.')),
          ['agent.thinking', 'agent.message'],
        )
        assert.equal(only(seen, 'agent.thinking')['thinking'], 'let me see')
      },
    )

    verifies(
      ['turns/queue', 'turns/promoted-once', 'events/post/user-message'],
      'messages posted during a turn wait, and begin the next one together',
      async () => {
        await using held = await startHeldModel(service, 'first', 'second')
        const session = await newSession(service, { model: held.model })
        await post(service, session, 'one')
        await held.asked
        const { data } = (await post(service, session, 'two')) as { data: ProcessedEvent[] }
        await post(service, session, 'three')
        assert.equal(data[0]?.processed_at, null)
        held.release()
        const seen = await untilIdle(service, session, 2)
        const second = seen.slice(types(seen).indexOf('session.status_idle') + 1)
        assert.deepEqual(types(second).slice(0, 4), [
          'session.status_run_started',
          'user.message',
          'user.message',
          'session.status_running',
        ])
        const messages = all(seen, 'user.message')
        assert.deepEqual(messages.map(textOf), ['one', 'two', 'three'])
        for (const each of messages) assert.ok(each['processed_at'])
        assert.equal(messages[1]?.id, data[0]?.id)
      },
    )

    verifies(
      [
        'turns/interrupt',
        'events/post/interrupt',
        'events/type/user-interrupt',
        'sessions/cancel/at-once',
        'sessions/cancel/queued-messages',
        'events/ext/message-cancelled',
        'events/ext/pending-settled',
      ],
      'an interrupt stops the model at once, drops waiting messages, and ends in end_turn',
      async () => {
        const session = await newSession(service)
        await post(service, session, 'wait: 60000\nsay: never')
        await until(service, session, 'running')
        const { data } = (await post(service, session, 'say: dropped')) as {
          data: ProcessedEvent[]
        }
        const before = Date.now()
        await post(service, session, { type: 'user.interrupt' })
        await untilIdle(service, session)
        assert.ok(Date.now() - before < 2000)
        const log = await logOf(service, session)
        assert.deepEqual(idleOf(log).stop_reason, { type: 'end_turn' })
        assert.equal(only(log, 'system.user_message_cancelled')['message_id'], data[0]?.id)
        only(log, 'user.interrupt')
        only(log, 'span.model_request_end')
        assert.deepEqual(all(log, 'agent.message'), [])
        const next = await turn(service, session, 'say: still here')
        assert.equal(textOf(only(next, 'agent.message')), 'still here')
      },
    )

    verifies(
      ['turns/interrupt', 'sessions/cancel/queued-messages'],
      'messages posted behind an interrupt begin the next turn',
      async () => {
        const session = await newSession(service)
        await post(service, session, 'wait: 60000\nsay: never')
        await until(service, session, 'running')
        await post(service, session, { type: 'user.interrupt' }, 'say: instead')
        const seen = await untilIdle(service, session, 2)
        assert.equal(textOf(only(seen, 'agent.message')), 'instead')
      },
    )

    verifies(
      [
        'turns/requires-action',
        'turns/stop/requires-action',
        'turns/tool-use-id',
        'events/post/custom-tool-result',
        'events/post/repeated-result',
        'events/post/other-result',
        'events/type/custom-tool-use',
        'events/type/user-custom-tool-result',
        'tools/custom/client-run',
        'tools/permission/custom',
      ],
      'a custom tool is answered by the client, and answering twice is harmless',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        const first = await turn(service, session, 'call look_up {"what": "weather"}')
        const call = only(first, 'agent.custom_tool_use')
        assert.deepEqual(call['input'], { what: 'weather' })
        assert.deepEqual(idleOf(first).stop_reason, {
          type: 'requires_action',
          event_ids: [call.id],
        })
        const rest = await turn(service, session, result(call.id, 'sunny'))
        assert.match(textOf(only(rest, 'agent.message')), /sunny/)
        assert.deepEqual(idleOf(rest).stop_reason, { type: 'end_turn' })
        const before = await logOf(service, session)
        await post(service, session, result(call.id, 'sunny'))
        await assert.rejects(post(service, session, result(call.id, 'rainy')), BadRequestError)
        assert.deepEqual(await logOf(service, session), before)
        const next = await turn(service, session, 'call look_up {}')
        const stopped = await turn(service, session, { type: 'user.interrupt' })
        assert.equal(only(stopped, 'user.custom_tool_result')['closed_by'], 'service')
        const late = only(next, 'agent.custom_tool_use').id
        await post(service, session, result(late, 'too late'))
        assert.deepEqual((await say(service, session)).at(-1), stopped.at(-1))
      },
    )

    verifies(
      ['turns/requires-action-rest', 'turns/messages-wait-for-action'],
      'messages wait until every call is answered, and go on behind them',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        const first = await turn(service, session, 'call look_up {"what": "x"}')
        const call = only(first, 'agent.custom_tool_use')
        await post(service, session, 'say: afterwards')
        assert.equal(all(await say(service, session), 'user.message').length, 1)
        await post(service, session, result(call.id, 'found'))
        const seen = await untilIdle(service, session, 3)
        assert.deepEqual(all(seen, 'agent.message').map(textOf).at(-1), 'afterwards')
      },
    )

    verifies(
      ['turns/interrupt', 'turns/stop/end-turn'],
      'an interrupt closes a call that waits for its answer',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        const first = await turn(service, session, 'call look_up {"what": "x"}')
        const call = only(first, 'agent.custom_tool_use')
        const rest = await turn(service, session, { type: 'user.interrupt' })
        const closed = only(rest, 'user.custom_tool_result')
        assert.deepEqual([closed['custom_tool_use_id'], closed['is_error']], [call.id, true])
        assert.deepEqual(idleOf(rest).stop_reason, { type: 'end_turn' })
        const next = await turn(service, session, 'say: on we go')
        assert.equal(textOf(only(next, 'agent.message')), 'on we go')
      },
    )

    verifies(
      'events/post/unknown-call',
      'a confirmation of an unknown call is refused, and changes nothing',
      async () => {
        const session = await newSession(service)
        const unknown: PostedEvent = {
          type: 'user.tool_confirmation',
          tool_use_id: 'sevt_nowhere',
          result: 'allow',
        }
        const both = [message('say: never'), unknown]
        await assert.rejects(events().send(session, { events: both }), { status: 400 })
        await assert.rejects(post(service, session, result('sevt_nowhere', 'x')), { status: 400 })
        assert.deepEqual(await logOf(service, session), [])
        const { status } = (await service.ask('GET', `/v1/sessions/${session}`)).body
        assert.equal(status, 'pending')
      },
    )

    verifies(
      'sessions/status/committed-first',
      'the status that GET answers was there before the event that announces it',
      async () => {
        const session = await newSession(service)
        const path = `/v1/sessions/${session}`
        await using reader = await openStream(service, `${path}/events/stream`)
        for (let round = 1; round <= 5; round++) {
          await post(service, session, `say: round ${round}`)
          await reader.until(
            () =>
              all(
                reader.frames.map(({ data }) => data),
                'session.status_idle',
              ).length >= round,
          )
          assert.equal((await service.ask('GET', path)).body['status'], 'idle')
        }
      },
    )
  })
}

type ProcessedEvent = { id: string; processed_at: string | null }

async function until(service: TestService, session: string, status: string): Promise<void> {
  const path = `/v1/sessions/${session}/events/stream?replay=1`
  await using reader = await openStream(service, path)
  await reader.untilType(`session.status_${status}`)
}
