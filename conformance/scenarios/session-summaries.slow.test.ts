import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type {
  Overview,
  SessionSummary,
  SessionSummaryShown,
} from '@steward/protocol/session-summaries.ts'
import { pricedModel, says as saysAtCost } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`sessions in short on ${database}`, () => {
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

    async function list(query: string): Promise<SessionSummary[]> {
      type Page = { data: SessionSummary[]; next_page: string | null }
      const all: SessionSummary[] = []
      for (let page = ''; ;) {
        const { status, body } = await service.ask<Page>('GET', `/v1/ext/sessions?${query}${page}`)
        assert.equal(status, 200, JSON.stringify(body))
        all.push(...body.data)
        if (body.next_page === null) return all
        page = `&page=${body.next_page}`
      }
    }
    const ids = async (query: string) => (await list(query)).map(({ id }) => id)
    const spent = (tokens: number) => saysAtCost('done', { input: tokens, output: 10 })
    const overview = async (query = '') =>
      (await service.ask<Overview>('GET', `/v1/ext/overview${query}`)).body

    verifies(
      [
        'sessions/summaries',
        'sessions/summaries/filters',
        'sessions/summaries/text',
        'sessions/summaries/sort',
        'sessions/summaries/creator',
        'sessions/overview',
        'sessions/overview/waiting',
      ],
      'they are found by what they are, did and cost, in five orders',
      async () => {
        const cheap = await newSession(service, {
          model,
          name: 'Cheap agent',
          system: 'x'.repeat(9_000),
        })
        stub.replies(spent(100))
        await turn(
          service,
          cheap,
          'Fix the  flaky\n test "100%_done" in the parser, please: Ülkü, ŁÓDŹ',
        )
        const dear = await newSession(service, { model }, { title: 'Ship IT' })
        stub.replies(spent(900))
        await turn(service, dear, 'hello')
        const waits = await newSession(service, { model, tools: [custom] }, { title: 'Waits' })
        stub.replies({
          blocks: [{ type: 'tool_call', id: 'a', name: 'look_up', pieces: ['{"question":"x"}'] }],
          stop: 'tool_use',
          usage: { input: 10, output: 10 },
        })
        await turn(service, waits, 'go')
        const broken = await newSession(service, { model }, { title: 'Broken' })
        stub.replies({ status: 400, error: 'invalid_request_error', message: 'no such thing' })
        await turn(service, broken, 'go')

        const [first] = await list('text=flaky%20PARSER')
        assert.equal(first?.id, cheap)
        assert.equal(first.title, null)
        assert.match(first.first_words ?? '', /^Fix the flaky test "100%_done" in the parser/)
        assert.equal(first.agent_name, 'Cheap agent')
        assert.equal(first.status, 'idle')
        assert.equal(first.created_by?.type, 'api_key')
        assert.equal(first.failure, null)
        assert.equal(first.turns, 1)
        assert.ok(!JSON.stringify(first).includes('xxxx'), 'no prompt')
        assert.deepEqual(await ids('text=100%25_done'), [cheap])
        assert.deepEqual(await ids('text=100%25Xdone'), [], 'a wildcard is a letter like any other')
        const quoted = encodeURIComponent('"100%_done"')
        assert.deepEqual(await ids(`text=${quoted}`), [cheap])
        for (const word of ['Ülkü', 'ülkü', 'ÜLKÜ', 'łódź', 'ŁÓDŹ'])
          assert.deepEqual(await ids(`text=${encodeURIComponent(word)}`), [cheap], word)
        assert.deepEqual(await ids('text=content'), [], 'what was said, not the JSON around it')
        assert.deepEqual(await ids('text=ship'), [dear])
        assert.deepEqual(await ids('waiting_on=person'), [waits])
        assert.deepEqual(await ids('failed=true'), [broken])
        assert.match((await list('failed=true'))[0]?.failure ?? '', /no such thing/)
        assert.deepEqual(await ids(`created_by=${first.created_by.id}&text=ship`), [dear])
        assert.deepEqual(await ids('created_by=user_of_nobody'), [])
        assert.deepEqual(await ids(`environment_id=${first.environment_id}`), [cheap])
        assert.deepEqual(await ids(`agent_id=${first.agent_id}&agent_version=1`), [cheap])
        assert.deepEqual(await ids('min_cost=50'), [dear])
        assert.equal((await ids('max_cost=50')).length, 3)
        const made = [broken, waits, dear, cheap]
        assert.deepEqual(await ids('limit=1'), made)
        assert.deepEqual(await ids('limit=1&order=asc'), made.toReversed())
        for (const sort of ['active', 'cost', 'tokens', 'ran']) {
          const sorted = await ids(`sort=${sort}&limit=3`)
          assert.deepEqual(sorted.toSorted(), made.toSorted(), sort)
          assert.deepEqual(await ids(`sort=${sort}&limit=1&order=asc`), sorted.toReversed(), sort)
        }
        assert.equal((await ids('sort=cost'))[0], dear)
        const page = await service.ask('GET', '/v1/ext/sessions?limit=1')
        const other = await service.ask(
          'GET',
          `/v1/ext/sessions?sort=cost&page=${String(page.body['next_page'])}`,
        )
        assert.equal(other.status, 400)

        const seen = await overview()
        assert.equal(seen.running, 0)
        assert.deepEqual(seen.waiting, { person: 1, money: 0, machine: 0, queue: 0 })
        assert.equal(seen.failed.sessions, 1)
        assert.equal(
          (await overview(`?since=${new Date(Date.now() + 1_000).toISOString()}`)).failed.sessions,
          0,
        )
        assert.equal(seen.days.length, 14)
        assert.deepEqual(seen.days.at(-1)?.list_cost, seen.cost_today)
        assert.ok(Number(seen.cost_today?.amount) > 90)
        await service.raw('POST', `/v1/sessions/${waits}/archive`)
        assert.equal((await overview()).waiting.person, 0)
        assert.deepEqual(await ids('text=waits'), [])
        assert.deepEqual(await ids('text=waits&include_archived=true'), [waits])
      },
    )

    verifies(
      ['sessions/summary', 'sessions/summary/context', 'sessions/summary/turns'],
      'one session shows its turns and how full its context is',
      async () => {
        const one = async (id: string) =>
          (await service.ask<SessionSummaryShown>('GET', `/v1/ext/sessions/${id}`)).body
        const session = await newSession(service, { model }, { title: 'One' })
        const fresh = await one(session)
        assert.equal(fresh.turns, 0)
        assert.deepEqual(fresh.context, { used_tokens: null, window_tokens: null, share: null })
        stub.replies(saysAtCost('done', { input: 100, output: 10, cacheRead: 900 }))
        await turn(service, session, 'hello')
        stub.replies({ status: 400, error: 'invalid_request_error', message: 'no such thing' })
        await turn(service, session, 'again')
        const { context, ...summary } = await one(session)
        assert.equal(summary.turns, 2)
        assert.equal(context.used_tokens, 1_000, 'of the newest request that was answered')
        const [listed] = await list('text=one')
        assert.deepEqual(summary, listed)
        const fork = await service.ask('POST', `/v1/ext/sessions/${session}/fork`, {})
        assert.equal((await one(fork.body.id)).turns, 2)

        const known = await newSession(service)
        await turn(service, known, 'say: hello')
        const full = (await one(known)).context
        assert.equal(full.window_tokens, 200_000)
        assert.equal(full.share, (full.used_tokens ?? 0) / 200_000)
        assert.ok((full.used_tokens ?? 0) > 0)
        const absent = await service.ask('GET', `/v1/ext/sessions/${session.slice(0, -4)}0000`)
        assert.equal(absent.status, 404)
      },
    )
  })
}
