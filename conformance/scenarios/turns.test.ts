import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Service } from '../service.ts'
import { boot, databases } from '../service.ts'
import { idleOf, newSession, say, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const types = (events: { type: string }[]) => events.map(({ type }) => type)
const ask = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } } as const
const custom = {
  type: 'custom',
  name: 'look_up',
  description: 'looks something up',
  input_schema: { type: 'object', properties: { what: { type: 'string' } } },
} as const

for (const database of databases) {
  describe(`turns on ${database}`, () => {
    let service: Service
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    verifies(
      ['events/type/user-message', 'events/type/agent-message', 'events/type/session-status-idle'],
      'a message is answered, and the idle is the last event',
      async () => {
        const session = await newSession(service)
        const events = await turn(service, session, 'say: hello there')
        assert.deepEqual(types(events), [
          'session.status_run_started',
          'user.message',
          'session.status_running',
          'span.model_request_start',
          'agent.message',
          'span.model_request_end',
          'session.usage',
          'session.status_idle',
        ])
        assert.deepEqual(idleOf(events).stop_reason, { type: 'end_turn' })
        assert.equal((await service.client.beta.sessions.retrieve(session)).status, 'idle')
      },
    )

    verifies('sandbox/path/workspace', 'a program that the agent writes runs in its sandbox', async () => {
      const session = await newSession(service, { tools: [{ type: 'agent_toolset_20260401' }] })
      const events = await turn(service, session, 'write /workspace/a.sh: echo six times seven is $((6*7))\nrun: sh a.sh; pwd')
      const results = events.filter(({ type }) => type === 'agent.tool_result')
      assert.equal(results.length, 2)
      assert.match(JSON.stringify(results[1]), /six times seven is 42\\n\/workspace/)
    })

    verifies('events/log', 'the log is gap-free and in one order', async () => {
      const session = await newSession(service)
      await turn(service, session, 'say: one')
      await turn(service, session, 'say: two')
      const log = (await (await service.raw('GET', `/v1/sessions/${session}/log`)).json()) as { seq: number }[]
      assert.deepEqual(log.map(({ seq }) => seq), log.map((_, index) => index + 1))
    })

    verifies('events/post/tool-confirmation', 'a call that must be asked for runs after it was allowed', async () => {
      const session = await newSession(service, { tools: [ask] })
      const first = await turn(service, session, 'run: echo allowed')
      const call = first.find(({ type }) => type === 'agent.tool_use')
      assert.ok(call)
      assert.deepEqual(idleOf(first).stop_reason, { type: 'requires_action', event_ids: [call.id] })
      const rest = await turn(service, session, { type: 'user.tool_confirmation', tool_use_id: call.id, result: 'allow' })
      assert.match(JSON.stringify(rest.find(({ type }) => type === 'agent.tool_result')), /allowed/)
      assert.deepEqual(idleOf(rest).stop_reason, { type: 'end_turn' })
    })

    verifies('events/post/tool-confirmation', 'a denied call does not run, and the model is told why', async () => {
      const session = await newSession(service, { tools: [ask] })
      const first = await turn(service, session, 'run: touch /workspace/never')
      const call = first.find(({ type }) => type === 'agent.tool_use')
      assert.ok(call)
      const rest = await turn(service, session, {
        type: 'user.tool_confirmation',
        tool_use_id: call.id,
        result: 'deny',
        deny_message: 'not on a Sunday',
      })
      assert.match(JSON.stringify(rest), /not on a Sunday/)
    })

    verifies('events/post/custom-tool-result', 'a custom tool is answered by the client, and answering twice is harmless', async () => {
      const session = await newSession(service, { tools: [custom] })
      const first = await turn(service, session, 'call look_up {"what": "weather"}')
      const call = first.find(({ type }) => type === 'agent.custom_tool_use')
      assert.ok(call)
      const answer = { type: 'user.custom_tool_result', custom_tool_use_id: call.id, content: [{ type: 'text', text: 'sunny' }] } as const
      const rest = await turn(service, session, answer)
      assert.match(JSON.stringify(rest.find(({ type }) => type === 'agent.message')), /sunny/)
      await service.client.beta.sessions.events.send(session, { events: [answer] })
      const answers = (await say(service, session)).filter(({ type }) => type === 'user.custom_tool_result')
      assert.equal(answers.length, 1)
    })

    verifies('events/post/unknown-call', 'a confirmation of an unknown call is refused, and changes nothing', async () => {
      const session = await newSession(service)
      const before = await say(service, session)
      const unknown = { type: 'user.tool_confirmation', tool_use_id: 'sevt_nowhere', result: 'allow' } as const
      const message = { type: 'user.message', content: [{ type: 'text', text: 'say: never' }] } as const
      await assert.rejects(service.client.beta.sessions.events.send(session, { events: [message, unknown] }), { status: 400 })
      assert.deepEqual(await say(service, session), before)
      assert.equal((await service.client.beta.sessions.retrieve(session)).status, 'idle')
    })
  })
}
