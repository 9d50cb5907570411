/** Results that come while other calls of the same answer still wait. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel, StubBlock } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, newSession, only, say, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`early answers on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    verifies(
      ['turns/requires-action-rest', 'turns/early-answers'],
      'of several calls some are answered, and idle names the rest; answers may come early',
      async () => {
        stub.replies(says('OK'))
        const made = await service.ask('POST', '/v1/ext/model_cards', {
          model_id: 'looks',
          provider: 'ant-compatible',
          model: 'stub-1',
          base_url: stub.url,
          api_key: 'sk-0123456789abcdef',
        })
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const look = (n: number): StubBlock => ({
          type: 'tool_call',
          id: `toolu_${n}`,
          name: 'look',
          pieces: ['{}'],
        })
        const tool = {
          type: 'custom',
          name: 'look',
          description: 'looks',
          input_schema: { type: 'object' },
        }
        const session = await newSession(service, {
          model: { id: 'looks' },
          tools: [tool],
        })
        stub.replies({ blocks: [look(1), look(2), look(3)], stop: 'tool_use' }, says('all seen'))
        const first = await turn(service, session, 'look around')
        const ids = all(first, 'agent.custom_tool_use').map(({ id }) => id)
        assert.equal(ids.length, 3)
        const answer = (id = '') =>
          ({ type: 'user.custom_tool_result', custom_tool_use_id: id, content: [] }) as const
        const rest = await turn(service, session, { ...answer(ids[1]), content: [] })
        assert.deepEqual(rest.at(-1)?.['stop_reason'], {
          type: 'requires_action',
          event_ids: [ids[0], ids[2]],
        })
        const two = [answer(ids[0]), answer(ids[2])].map((each) => ({ ...each, content: [] }))
        const last = await turn(service, session, ...two)
        assert.deepEqual(last.at(-1)?.['stop_reason'], { type: 'end_turn' })
        assert.equal(textOf(only(await say(service, session), 'agent.message')), 'all seen')
      },
    )
  })
}
