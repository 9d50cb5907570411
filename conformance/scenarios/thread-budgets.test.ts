import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel, StubReply } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newTeam, says, starts, teamOf, uses } from '../team.ts'
import { all, idleOf, only, post, say, textOf, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`budgets of threads on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, { input: 1_000, output: 1_000 })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const threads = () => service.client.beta.sessions.threads

    /** Returns the threads, the primary thread first. */
    async function threadsOf(session: string) {
      const found = await Array.fromAsync(threads().list(session))
      return found.toReversed()
    }

    async function childOf(session: string, name: string) {
      const found = (await threadsOf(session)).find(
        ({ agent }) => 'name' in agent && agent.name === name,
      )
      assert.ok(found, name)
      return found
    }
    verifies(
      ['threads/session-status', 'sessions/budget/reached'],
      'a child that stops at the budget ends the session with that reason',
      async () => {
        const amount = { amount: '60', currency: 'USD' } as const
        const toolset = { type: 'agent_toolset_20260401' }
        const session = await newTeam(service, model, [{ name: 'worker', tools: [toolset] }], {
          session: { budget: { type: 'limit', max_list_cost: amount } },
        })
        const rests = Promise.withResolvers<void>()
        teamOf(stub, {
          boss: [starts(['worker', 'work']), says('it works')],
          worker: [
            () => ({
              answer: uses(['bash', { command: 'echo done' }]),
              hold: () => rests.promise,
            }),
            says('it is done'),
          ],
        })
        await post(service, session, 'go')
        await until(async () => (await threadsOf(session))[0]?.status === 'idle')
        rests.resolve()
        const log = () => say(service, session)
        await until(async () => all(await log(), 'session.status_idle').length === 1)
        const seen = await log()
        assert.deepEqual(only(seen, 'session.status_idle')['stop_reason'], {
          type: 'budget_reached',
        })
        const [child] = all(seen, 'session.thread_status_idle').slice(-1)
        assert.deepEqual(child?.['stop_reason'], { type: 'budget_reached' })
      },
    )

    verifies(
      ['sessions/budget/resumes', 'threads/children'],
      'a child that paused at the budget goes on by itself once the budget is raised',
      async () => {
        const limit = (amount: string) =>
          ({ type: 'limit', max_list_cost: { amount, currency: 'USD' } }) as const
        const toolset = { type: 'agent_toolset_20260401' }
        const session = await newTeam(service, model, [{ name: 'worker', tools: [toolset] }], {
          session: { budget: limit('40') },
        })
        const [bossAsks, workerAsks] = [
          Promise.withResolvers<void>(),
          Promise.withResolvers<void>(),
        ]
        const pair = (own: PromiseWithResolvers<void>, other: Promise<void>, answer: StubAnswer) =>
          function reply(): StubReply {
            own.resolve()
            return { answer, hold: () => other }
          }
        const works = uses(['bash', { command: 'echo done' }])
        teamOf(stub, {
          boss: [
            starts(['worker', 'work']),
            pair(bossAsks, workerAsks.promise, says('it works')),
            says('noted'),
          ],
          worker: [pair(workerAsks, bossAsks.promise, works), says('it is done')],
        })
        const halted = await turn(service, session, 'go')
        assert.deepEqual(idleOf(halted), { stop_reason: { type: 'budget_reached' } })
        const child = await childOf(session, 'worker')
        const before = await Array.fromAsync(
          threads().events.list(child.id, { session_id: session }),
        )
        assert.equal(
          before.some(({ type }) => type === 'agent.message'),
          false,
        )
        await service.client.beta.sessions.update(session, { budget: limit('400') })
        const log = () => say(service, session)
        await until(async () => all(await log(), 'session.status_idle').length === 2)
        const seen = await log()
        assert.equal(textOf(only(seen, 'agent.thread_message_received')), 'it is done')
        assert.deepEqual(seen.at(-1)?.['stop_reason'], { type: 'end_turn' })
        const running = all(seen, 'session.thread_status_running')
        assert.equal(running.at(-2)?.['session_thread_id'], child.id)
      },
    )
  })
}
