import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel, says as saysAtCost, unpricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, custom, idleOf, newSession, only, post, result, say, turn } from '../turns.ts'
import { types } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { delivered, newEndpoint } from '../webhooks.ts'

/** A tenth of a cent for each token. */
const cost = { input: 1_000, output: 1_000 }
/** Twenty cents. */
const usage = { input: 150, output: 50 }
const says = (text: string): StubAnswer => saysAtCost(text, usage)
const calls = (id: string): StubAnswer => ({
  blocks: [{ type: 'tool_call', id, name: 'look_up', pieces: ['{"what":"x"}'] }],
  stop: 'tool_use',
  usage,
})
const limit = (amount: string) =>
  ({ type: 'limit', max_list_cost: { amount, currency: 'USD' } }) as const
const cents = (amount: string) => ({ amount, currency: 'USD' })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`budgets on ${database}`, () => {
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
    const sessions = () => service.client.beta.sessions

    const budgeted = async (amount: string, agent: object = {}) =>
      newSession(
        service,
        { model: await pricedModel(service, stub, cost), ...agent },
        { budget: limit(amount) },
      )

    /** Waits until the log has `count` idle events, and returns the log. */
    async function idles(session: string, count: number): Promise<SeenEvent[]> {
      for (;;) {
        const seen = await say(service, session)
        if (all(seen, 'session.status_idle').length >= count) return seen
      }
    }

    const refused = (asked: Promise<unknown>, words: RegExp, code: string) =>
      assert.rejects(asked, (error) => {
        assert.ok(error instanceof BadRequestError)
        assert.match(error.message, words)
        assert.match(JSON.stringify(error.error), new RegExp(code))
        return true
      })

    verifies(
      ['sessions/usage/list-cost', 'sessions/field/budget', 'models/price'],
      'a session shows what its requests cost, by the price at the time of each',
      async () => {
        const name = await pricedModel(service, stub, cost)
        const session = await newSession(service, { model: name })
        assert.deepEqual((await sessions().retrieve(session)).usage?.list_cost, cents('0'))
        stub.replies(says('one'))
        const first = only(await turn(service, session, 'go'), 'session.usage')
        assert.deepEqual((first['usage'] as { list_cost: object }).list_cost, cents('20'))
        assert.equal(first['budget'], null)
        const listed = await service.ask('GET', '/v1/ext/model_cards')
        const card = listed.body.data.find((each) => each['model_id'] === name)
        const native_config = { cost: { input: 2_000, output: 2_000 } }
        await service.ask('PATCH', `/v1/ext/model_cards/${card?.id}`, { native_config })
        stub.replies(says('two'))
        await turn(service, session, 'go')
        const { usage, budget } = await sessions().retrieve(session)
        assert.deepEqual([usage?.list_cost, budget], [cents('60'), null])
      },
    )

    verifies(
      'sessions/usage/list-cost',
      'a session that has used a model without a price has no cost',
      async () => {
        const session = await newSession(service, { model: await unpricedModel(service, stub) })
        stub.replies(says('x'))
        const { usage } = only(await turn(service, session, 'go'), 'session.usage')
        assert.ok(!('list_cost' in (usage as object)))
        assert.equal((await sessions().retrieve(session)).usage?.list_cost, null)
      },
    )

    verifies(
      ['sessions/budget/reached', 'sessions/budget/refusal', 'sessions/budget/raise'],
      'a session that has spent its budget takes no message until the budget is raised',
      async () => {
        const session = await budgeted('20')
        stub.replies(says('one'))
        const seen = await turn(service, session, 'go')
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'budget_reached' } })
        assert.deepEqual(types(seen).slice(-2), ['session.usage', 'session.status_idle'])
        assert.deepEqual(only(seen, 'session.usage')['budget'], limit('20'))
        const list =
          /user\.tool_confirmation, user\.tool_result, user\.custom_tool_result, user\.interrupt/
        await refused(post(service, session, 'more'), list, 'budget_reached')
        await post(service, session, { type: 'user.interrupt' })
        assert.deepEqual(types(await say(service, session)), types(seen))
        const updated = await sessions().update(session, { budget: limit('21') })
        assert.deepEqual(updated.budget, limit('21'))
        const log = await say(service, session)
        assert.deepEqual(types(log).slice(-3), [
          ...['session.updated', 'session.usage', 'session.status_idle'],
        ])
        assert.deepEqual(idleOf(log), { stop_reason: { type: 'end_turn' } })
        stub.replies(says('two'))
        assert.deepEqual(idleOf(await turn(service, session, 'go')), {
          stop_reason: { type: 'budget_reached' },
        })
      },
    )

    verifies(
      ['sessions/budget/resumes', 'sessions/budget/asks', 'webhooks/events/budget-reached'],
      'a turn that paused at the budget goes on by itself once the budget is raised',
      async () => {
        const endpoint = await newEndpoint(service, `${stub.url}/hook`, ['session.budget_reached'])
        const early = await newEndpoint(service, `${stub.url}/hook`, [
          'session.budget_half_spent',
          'session.budget_nearly_spent',
        ])
        const session = await budgeted('20', { tools: [custom] })
        stub.replies(calls('toolu_1'))
        const asked = await turn(service, session, 'go')
        const call = only(asked, 'agent.custom_tool_use').id
        assert.deepEqual(idleOf(asked), {
          stop_reason: { type: 'requires_action', event_ids: [call] },
        })
        await refused(post(service, session, 'more'), /takes only/, 'budget_reached')
        const halted = await turn(service, session, result(call, 'found'))
        assert.deepEqual(idleOf(halted), { stop_reason: { type: 'budget_reached' } })
        assert.equal(all(halted, 'span.model_request_start').length, 0)
        await sessions().update(session, { title: 'still halted' })
        await refused(
          sessions()
            .update(session, { budget: limit('20') })
            .then(() => post(service, session, 'x')),
          /takes only/,
          'budget_reached',
        )
        stub.replies(says('done'))
        await sessions().update(session, { budget: limit('40') })
        const whole = await idles(session, 4)
        const updates = all(whole, 'session.updated')
        assert.deepEqual(updates.at(-1)?.['budget'], limit('40'))
        const since = whole.slice(whole.findIndex(({ id }) => id === updates.at(-1)?.id))
        assert.deepEqual(types(since), [
          ...['session.updated', 'session.status_running', 'span.model_request_start'],
          ...['agent.message', 'span.model_request_end', 'session.usage', 'session.status_idle'],
        ])
        assert.deepEqual(idleOf(since), { stop_reason: { type: 'budget_reached' } })
        const two = await delivered(service, endpoint.id, ({ length }) => length >= 2)
        const shares = await delivered(service, early.id, ({ length }) => length >= 3)
        assert.deepEqual(
          shares.map(({ event_type: type }) => type.replace('session.budget_', '')).toSorted(),
          ['half_spent', 'half_spent', 'nearly_spent', 'nearly_spent'].slice(-shares.length),
          'each once for each value of the budget that was spent so far',
        )
        assert.equal(two.length, 2)
      },
    )

    verifies(
      'sessions/budget/overshoot',
      'a session overshoots its budget by one request at most, and never runs below it',
      async () => {
        const tools = [{ type: 'agent_toolset_20260401' }]
        const session = await budgeted('30', { tools })
        const unknown = (id: string): StubAnswer => ({ ...calls(id) })
        stub.replies(unknown('toolu_1'), unknown('toolu_2'), unknown('toolu_3'))
        const seen = await turn(service, session, 'go')
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'budget_reached' } })
        assert.equal(all(seen, 'span.model_request_end').length, 2)
        assert.deepEqual((await sessions().retrieve(session)).usage?.list_cost, cents('40'))
      },
    )

    verifies(
      ['sessions/budget/overshoot', 'usage/report'],
      'a request that fails in its answer costs the tokens that its provider has counted',
      async () => {
        const session = await budgeted('25')
        const [begun = ''] = anthropicDialect.frames(says('lost'))
        const error = anthropicDialect.error(400, 'invalid_request_error', 'not so')
        const body = `${begun}event: error\ndata: ${error}\n\n`
        stub.replies({ body, contentType: 'text/event-stream' })
        const seen = await turn(service, session, 'go')
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'retries_exhausted' } })
        assert.equal(only(seen, 'span.model_request_end')['is_error'], true)
        const { usage: used } = await sessions().retrieve(session)
        assert.deepEqual(
          [used?.input_tokens, used?.output_tokens, used?.list_cost],
          [150, 1, cents('15')],
        )
        stub.replies(says('enough'))
        assert.deepEqual(idleOf(await turn(service, session, 'go')), {
          stop_reason: { type: 'budget_reached' },
        })
        const { body: report } = await service.ask('GET', '/v1/ext/usage?group_by=session_id')
        const rows = report.data
          .flatMap(({ results }) => results as Record<string, unknown>[])
          .filter((each) => each['session_id'] === session)
        assert.deepEqual(
          rows.map(({ requests, input_tokens, output_tokens }) => [
            ...[requests, input_tokens, output_tokens],
          ]),
          [[2, 300, 51]],
        )
      },
    )

    verifies(
      ['sessions/budget/remove', 'sessions/budget/create-only', 'sessions/budget/not-raised'],
      'a budget is removed for good, and raised only above what is spent',
      async () => {
        const session = await budgeted('30')
        stub.replies(says('one'))
        await turn(service, session, 'go')
        const lower = sessions().update(session, { budget: limit('20') })
        await refused(lower, /above what the session has cost, which is 20/, 'budget_not_raised')
        await sessions().update(session, { budget: limit('21') })
        assert.equal((await sessions().update(session, { budget: null })).budget, null)
        const again = sessions().update(session, { budget: limit('90') })
        await refused(again, /created/, 'budget_create_only')
        const other = await newSession(service)
        const added = sessions().update(other, { budget: limit('90') })
        await refused(added, /created/, 'budget_create_only')
      },
    )

    verifies('sessions/budget/priced', 'a budget needs a model with a price', async () => {
      const model = await unpricedModel(service, stub)
      const unpriced = newSession(service, { model }, { budget: limit('10') })
      await refused(unpriced, /has no price: set native_config\.cost/, 'model_not_budgetable')
      const free = await newSession(service, {}, { budget: limit('10') })
      const { usage } = only(await turn(service, free, 'say: x'), 'session.usage')
      assert.deepEqual((usage as { list_cost: unknown }).list_cost, {
        amount: '0',
        currency: 'USD',
      })
      for (const amount of ['0', '01', '1.5', '-1', '']) {
        const odd = newSession(service, {}, { budget: limit(amount) })
        await refused(odd, /budget\.max_list_cost\.amount/, 'invalid_request_error')
      }
    })
  })
}
