import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError } from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import {
  cost,
  evaluation,
  outcome,
  results,
  revise,
  rubric,
  satisfied,
  says,
  steps,
  usage,
  works,
} from '../outcomes.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { newTeam, starts, teamOf } from '../team.ts'
import { boot, scenarioDatabases } from '../service.ts'
import {
  all,
  custom,
  idleOf,
  newSession,
  only,
  post,
  result,
  say,
  textOf,
  turn,
  types,
} from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { delivered, haveEnded, newEndpoint } from '../webhooks.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`outcomes on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, cost)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const sessions = () => service.client.beta.sessions
    const evaluations = async (session: string) =>
      (await sessions().retrieve(session)).outcome_evaluations ?? []

    for (const revisions of [0, 1, 3])
      verifies(
        [
          'events/post/define-outcome',
          'events/type/outcome-evaluation',
          'outcomes/loop',
          'outcomes/closing',
          'sessions/field/outcome-evaluations',
          'events/type/define-outcome',
        ],
        `an outcome whose grader asks for ${revisions} revisions of 3 stays running to its end`,
        async () => {
          const session = await newSession(service, { model })
          stub.requests.length = 0
          const rounds = Array.from({ length: revisions }, () => [says('a poem'), revise])
          stub.replies(...rounds.flat(), says('the last poem'), satisfied)
          const seen = await turn(service, session, outcome())
          const revised = Array.from({ length: revisions }, () => [...evaluation, 'agent.message'])
          assert.deepEqual(steps(seen), [
            ...[...works, ...revised.flat()],
            ...(revisions === 3 ? [] : evaluation),
            'session.status_idle',
          ])
          assert.deepEqual(idleOf(seen), { stop_reason: { type: 'end_turn' } })
          const asked = Array.from({ length: Math.min(revisions, 2) }, (_, at) => [
            'needs_revision',
            at,
          ])
          const end = revisions === 3 ? 'max_iterations_reached' : 'satisfied'
          assert.deepEqual(results(seen), [...asked, [end, asked.length]])
          const [shown] = await evaluations(session)
          const { outcome_id, ...defined } = only(seen, 'user.define_outcome')
          assert.deepEqual([defined['rubric'], defined['max_iterations']], [rubric, 3])
          assert.deepEqual(
            [shown?.outcome_id, shown?.description, shown?.result, shown?.iteration],
            [outcome_id, 'a short poem', end, asked.length],
          )
          assert.ok(shown?.completed_at)
          const listed = (await sessions().list({ limit: 1 })).data[0]
          assert.deepEqual([listed?.id, listed?.outcome_evaluations], [session, [shown]])
        },
      )

    verifies(
      ['outcomes/threads', 'outcomes/loop'],
      'work is judged when every thread of the session has come to rest',
      async () => {
        const session = await newTeam(service, model, [{ name: 'one' }])
        const open = Promise.withResolvers<void>()
        const asked = teamOf(stub, {
          boss: [starts(['one', 'a verse']), says('one writes it'), says('all is there')],
          one: [{ answer: says('a verse'), hold: () => open.promise }],
          grader: [satisfied],
        })
        await post(service, session, outcome())
        const log = () => say(service, session)
        await until(async () => types(await log()).includes('agent.message'))
        assert.deepEqual([asked['one']?.length, asked['grader']?.length], [1, 0])
        open.resolve()
        await until(async () => (await log()).at(-1)?.type === 'session.status_idle')
        const seen = await log()
        assert.deepEqual(results(seen), [['satisfied', 0]])
        assert.deepEqual(
          types(seen)
            .filter((type) => /^agent.message|^agent.thread_message_r|_start$/.test(type))
            .filter((type) => type !== 'span.model_request_start'),
          [
            'agent.message',
            'agent.thread_message_received',
            'agent.message',
            'span.outcome_evaluation_start',
          ],
        )
        stub.repliesBy(() => undefined)
      },
    )

    verifies(
      ['outcomes/threads', 'outcomes/failed', 'threads/session-status'],
      'a turn that fails ends the outcome at once, and the session rests with its last thread',
      async () => {
        const session = await newTeam(service, model, [{ name: 'one' }])
        const open = Promise.withResolvers<void>()
        const asked = teamOf(stub, {
          boss: [
            ...[
              starts(['one', 'a verse']),
              { status: 400, error: 'invalid_request', message: 'no' },
            ],
            says('too late'),
          ],
          one: [{ answer: says('a verse'), hold: () => open.promise }],
          grader: [satisfied],
        })
        await post(service, session, outcome())
        const log = () => say(service, session)
        await until(async () => results(await log()).length > 0)
        assert.deepEqual(results(await log()), [['failed', 0]])
        assert.equal(all(await log(), 'session.status_idle').length, 0)
        assert.equal((await sessions().retrieve(session)).status, 'running')
        open.resolve()
        await until(async () => (await log()).at(-1)?.type === 'session.status_idle')
        const seen = await log()
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'end_turn' } })
        assert.equal(all(seen, 'session.status_idle').length, 1)
        assert.equal(textOf(only(seen, 'agent.message')), 'too late')
        assert.deepEqual([results(seen).length, asked['grader']?.length], [1, 0])
        assert.equal((await evaluations(session)).at(-1)?.result, 'failed')
        stub.repliesBy(() => undefined)
      },
    )

    const reaches = (session: string, type: string) =>
      until(async () => types(await say(service, session)).includes(type))
    const hangs = (...before: StubAnswer[]) => {
      stub.requests.length = 0
      stub.replies(...before, 'hang')
    }
    const asks = (count: number) => until(() => stub.requests.length === count)
    const settled = async (session: string) => {
      await reaches(session, 'session.status_idle')
      return say(service, session)
    }
    const lastResult = async (session: string) => (await evaluations(session)).at(-1)?.result

    verifies(
      ['outcomes/one', 'outcomes/define'],
      'a second outcome waits for the end of the first, and the session is a chat meanwhile',
      async () => {
        const session = await newSession(service, { model })
        hangs()
        await post(service, session, outcome())
        await asks(1)
        await assert.rejects(post(service, session, outcome()), (error) => {
          assert.ok(error instanceof BadRequestError)
          assert.match(JSON.stringify(error.error), /outcome_open/)
          return true
        })
        await assert.rejects(post(service, session, outcome(), outcome()), BadRequestError)
        stub.replies(says('a better poem'), satisfied)
        await post(service, session, { type: 'user.interrupt' })
        await until(async () => (await lastResult(session)) === 'interrupted')
        await reaches(session, 'session.status_idle')
        const seen = await turn(service, session, outcome({ max_iterations: 1 }))
        assert.deepEqual(results(seen), [['satisfied', 0]])
        stub.replies(says('you are welcome'))
        const chat = await turn(service, session, 'thanks')
        assert.equal(all(chat, 'span.outcome_evaluation_start').length, 0)
        const found = (await evaluations(session)).map(({ result }) => result)
        assert.deepEqual(found, ['interrupted', 'satisfied'])
      },
    )

    verifies(
      ['outcomes/interrupt', 'outcomes/results'],
      'an interrupt ends an outcome while the agent works, and while the work is judged',
      async () => {
        const worked = await newSession(service, { model })
        hangs()
        await post(service, worked, outcome())
        await asks(1)
        assert.equal(await lastResult(worked), 'running')
        await post(service, worked, { type: 'user.interrupt' })
        const work = await settled(worked)
        const end = only(work, 'span.outcome_evaluation_end')
        assert.deepEqual(
          [end['outcome_evaluation_start_id'], end['result'], end['iteration']],
          ['', 'interrupted', 0],
        )
        assert.deepEqual(idleOf(work), { stop_reason: { type: 'end_turn' } })
        const judged = await newSession(service, { model })
        hangs(says('a poem'))
        await post(service, judged, outcome())
        await asks(2)
        assert.equal(await lastResult(judged), 'evaluating')
        assert.equal((await sessions().retrieve(judged)).status, 'running')
        await post(service, judged, { type: 'user.interrupt' })
        const seen = await settled(judged)
        const start = only(seen, 'span.outcome_evaluation_start')
        const last = only(seen, 'span.outcome_evaluation_end')
        assert.deepEqual(
          [last['outcome_evaluation_start_id'], last['result']],
          [start.id, 'interrupted'],
        )
        assert.deepEqual(idleOf(seen), { stop_reason: { type: 'end_turn' } })
      },
    )

    verifies(
      'outcomes/interrupt',
      'an interrupt does not end an outcome that is defined behind it',
      async () => {
        const session = await newSession(service, { model })
        hangs()
        await post(service, session, 'a long poem, please')
        await asks(1)
        stub.replies(says('a short poem'), satisfied)
        await post(service, session, { type: 'user.interrupt' }, outcome())
        await until(async () => (await lastResult(session)) === 'satisfied')
      },
    )

    verifies(
      ['webhooks/events/outcome-evaluation-ended', 'outcomes/revision'],
      'a webhook reports each evaluation that ends',
      async () => {
        const kind = 'session.outcome_evaluation_ended'
        // The deliveries have their own stub, so that they take no answer of the model.
        await using hooks = await startStub(anthropicDialect)
        hooks.replies(says(''))
        const endpoint = await newEndpoint(service, `${hooks.url}/hook`, [kind])
        const session = await newSession(service, { model })
        stub.replies(says('a poem'), revise, says('a poem'), satisfied)
        await turn(service, session, outcome())
        const told = await delivered(
          service,
          endpoint.id,
          (each) => each.length === 2 && haveEnded(each),
        )
        assert.deepEqual(
          told.map(({ event_type }) => event_type),
          [kind, kind],
        )
      },
    )

    verifies(
      ['outcomes/budget', 'sessions/budget/resumes'],
      'an evaluation that reaches the budget goes on when it is raised, under the same start',
      async () => {
        const limit = (amount: string) =>
          ({ type: 'limit', max_list_cost: { amount, currency: 'USD' } }) as const
        const session = await newSession(service, { model }, { budget: limit('40') })
        stub.replies(says('a poem'), says('hm'), satisfied)
        const halted = await turn(service, session, outcome())
        assert.deepEqual(idleOf(halted), { stop_reason: { type: 'budget_reached' } })
        assert.equal(await lastResult(session), 'evaluating')
        assert.equal(all(halted, 'span.outcome_evaluation_end').length, 0)
        await sessions().update(session, { budget: limit('400') })
        await until(async () => (await lastResult(session)) === 'satisfied')
        const log = await settled(session)
        const start = only(log, 'span.outcome_evaluation_start')
        const end = only(log, 'span.outcome_evaluation_end')
        assert.equal(end['outcome_evaluation_start_id'], start.id)
        assert.equal((end['usage'] as { input_tokens: number }).input_tokens, 300)
        const { usage: spent } = await sessions().retrieve(session)
        assert.deepEqual(spent?.list_cost, { amount: '60', currency: 'USD' })
        // The agent's turn spends the budget before the evaluation begins.
        const early = await newSession(service, { model }, { budget: limit('20') })
        stub.replies(says('a poem'), satisfied)
        const before = await turn(service, early, outcome())
        assert.deepEqual(idleOf(before), { stop_reason: { type: 'budget_reached' } })
        assert.equal(all(before, 'span.outcome_evaluation_start').length, 0)
        await sessions().update(early, { budget: null })
        await until(async () => (await lastResult(early)) === 'satisfied')
      },
    )

    verifies(
      'outcomes/steer',
      'a message that waits when the turn ends is read before the work is judged',
      async () => {
        const session = await newSession(service, { model, tools: [custom] })
        const look: StubAnswer = {
          blocks: [{ type: 'tool_call', id: 'toolu_1', name: 'look_up', pieces: ['{}'] }],
          stop: 'tool_use',
          usage,
        }
        stub.replies(look, says('rosa'), says('la rosa'), satisfied)
        const waits = await turn(service, session, outcome())
        assert.equal(all(waits, 'span.outcome_evaluation_start').length, 0)
        const { id } = only(waits, 'agent.custom_tool_use')
        await post(service, session, 'in Latin')
        const seen = await turn(service, session, result(id, 'found'))
        assert.deepEqual(steps(seen), [
          ...['user.custom_tool_result', 'session.status_running', 'agent.message'],
          ...['user.message', 'session.status_running', 'agent.message'],
          ...[...evaluation, 'session.status_idle'],
        ])
      },
    )

    verifies(
      ['outcomes/define', 'sessions/create/initial-events'],
      'an outcome among the first events begins with the session, once, and an archive ends it',
      async () => {
        const { beta } = service.client
        const agent = await beta.agents.create({ name: 'poet', model })
        const environment = await beta.environments.create({ name: 'outcomes' })
        const setup = { agent: agent.id, environment_id: environment.id }
        stub.replies(says('a poem'), satisfied)
        const defined = outcome()
        const create = (initial_events: unknown[]) =>
          service.ask('POST', '/v1/sessions', { ...setup, initial_events })
        const { body, status } = await create([defined])
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body['status'], 'running')
        const [shown] = body['outcome_evaluations'] as { result: string }[]
        assert.equal(shown?.result, 'pending')
        assert.deepEqual(results(await settled(body.id)), [['satisfied', 0]])
        assert.equal((await create([defined, defined])).status, 400)
        assert.equal((await sessions().archive(body.id)).outcome_evaluations?.length, 1)
      },
    )

    verifies(
      'outcomes/self-hosted',
      'an outcome is refused where workers run the tools',
      async () => {
        const environment = await service.client.beta.environments.create({
          name: 'machines',
          config: { type: 'self_hosted' },
        })
        const session = await newSession(service, { model }, { environment_id: environment.id })
        await assert.rejects(post(service, session, outcome()), /self_hosted/)
      },
    )
  })
}
