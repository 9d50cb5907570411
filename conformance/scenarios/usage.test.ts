import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { UsageReport } from '@steward/protocol/usage.ts'
import { systemClock } from '@steward/base/time.ts'
import type { CostReport, MessagesUsage } from '@steward/protocol/usage-reports.ts'
import { callerAt } from '../caller.ts'
import { sumOldUsage } from '@steward/server/tenants/usage/job.ts'
import { pricedModel, says, unpricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const path = '/v1/ext/usage'
const from = 'starting_at=2026-03-01T00:00:00Z'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`usage on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let now = Date.parse('2026-03-01T10:59:00Z')
    let model: string
    let deleted: string
    let unpriced: string
    let other: string
    before(async () => {
      const clock = { ...systemClock, now: () => now }
      service = await boot(database, { overrides: { clock } })
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, { input: 0.25, output: 1_000, cacheRead: 0.01 })
      deleted = await newSession(service, { model })
      unpriced = await unpricedModel(service, stub)
      other = await newSession(service, { model: unpriced })
      const cached = { input: 3, output: 10, cacheRead: 7 }
      stub.replies(says('one', cached))
      await turn(service, deleted, 'go')
      stub.replies(says('x', { input: 1, output: 1 }))
      await turn(service, other, 'go')
      stub.replies(says('one', cached))
      now += 120_000
      await turn(service, deleted, 'go')
      now += 86_400_000
      await turn(service, deleted, 'go')
      await service.client.beta.sessions.delete(deleted)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const report = async (query: string) => {
      const { status, body } = await service.ask<UsageReport>('GET', `${path}?${from}&${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body.data
    }
    const refused = async (query: string, words: RegExp) => {
      const { status, body } = await service.ask('GET', `${path}?${query}`)
      assert.equal(status, 400)
      assert.match(JSON.stringify(body), words)
    }

    verifies(
      ['usage/report', 'usage/buckets', 'usage/prices', 'usage/outlives'],
      'usage is reported by days of UTC, also that of a deleted session',
      async () => {
        const data = await report('group_by=model')
        assert.deepEqual(
          data.map(({ starting_at, ending_at }) => [starting_at, ending_at]),
          [
            ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
            ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
          ],
        )
        const priced = data[0]?.results.find((each) => each.model === model)
        const { list_cost, ...tokens } = priced ?? assert.fail('no row')
        assert.deepEqual(list_cost, { amount: '2.0002', currency: 'USD' })
        assert.deepEqual([tokens.requests, tokens.input_tokens, tokens.output_tokens], [2, 6, 20])
        assert.equal(tokens.cache_read_input_tokens, 14)
        assert.deepEqual([tokens.session_id, tokens.agent_id, tokens.price], [null, null, null])
        const free = data[0]?.results.find((each) => each.model === unpriced)
        assert.equal(free?.list_cost, null)
        assert.equal(free.requests, 1)
      },
    )

    verifies(
      ['usage/report', 'usage/buckets', 'usage/groups'],
      'usage is grouped by sessions, agents and prices, and `ending_at` may be omitted',
      async () => {
        const until = 'ending_at=2026-03-01T11:00:00Z&bucket_width=1h'
        const [first, ...more] = await report(`${until}&group_by[]=session_id&group_by[]=price`)
        assert.deepEqual(more, [])
        assert.equal(first?.starting_at, '2026-03-01T10:00:00.000Z')
        const mine = first.results.find(({ session_id }) => session_id === deleted)
        assert.deepEqual(mine?.price, {
          ...{ input: 0.25, output: 1_000, cacheRead: 0.01, cacheWrite: 0.25 },
        })
        assert.deepEqual(mine.list_cost, { amount: '1.0001', currency: 'USD' })
        const hours = await report('bucket_width=1h&group_by=agent_id')
        assert.equal(hours.length, 3)
        assert.match(hours[1]?.results[0]?.agent_id ?? '', /^agent_/)
        const [all] = await report('ending_at=2026-03-02T00:00:00Z')
        assert.deepEqual([all?.results.length, all?.results[0]?.list_cost], [1, null])
      },
    )

    verifies(
      ['usage/reports/buckets', 'usage/reports/results', 'usage/reports/who'],
      'the reports of an organisation have the same numbers, bucket by bucket and page by page',
      async () => {
        const reports = '/v1/organizations'
        const tokens = await service.ask<MessagesUsage>(
          'GET',
          `${reports}/usage_report/messages?${from}&limit=1&group_by[]=model`,
        )
        const mine = tokens.body.data[0]?.results.find((each) => each.model === model)
        assert.ok(mine)
        const { uncached_input_tokens, cache_read_input_tokens, output_tokens, requests } = mine
        assert.deepEqual(
          [uncached_input_tokens, cache_read_input_tokens, output_tokens, requests],
          [6, 14, 20, 2],
        )
        assert.deepEqual([tokens.body.data.length, tokens.body.has_more], [1, true])
        const next = `${reports}/usage_report/messages?${from}&page=${tokens.body.next_page}`
        const rest = await service.ask<MessagesUsage>('GET', `${next}&group_by[]=model`)
        assert.equal(rest.body.data[0]?.starting_at, '2026-03-02T00:00:00.000Z')
        assert.equal(rest.body.has_more, false)
        const span = `${from}&ending_at=2026-03-01T13:00:00Z&bucket_width=1h&limit=168`
        const costs = await service.ask<CostReport>(
          'GET',
          `${reports}/cost_report?${span}&group_by[]=workspace_id&group_by[]=model`,
        )
        const { data } = costs.body
        assert.deepEqual(
          [data.length, data.filter(({ results }) => results.length > 0).length],
          [13, 2],
        )
        const priced = data[10]?.results.find((each) => each.model === model)
        assert.deepEqual([priced?.amount, priced?.is_complete], ['1.0001', true])
        assert.match(priced?.workspace_id ?? '', /^wrkspc_/)
        const refusals: [string, RegExp][] = [
          [`${from}&bucket_width=1m`, /usage is counted by hours: ask for 1h or 1d/],
          [`${from}&group_by[]=service_tier`, /service_tier.{2} is not told apart/],
          [`${from}&limit=0`, /limit/],
          [`${from}&ending_at=2026-01-01T00:00:00Z`, /behind starting_at/],
          [`${from}&page=eyJ4`, /cursor/],
        ]
        for (const [query, words] of refusals) {
          const { status, body } = await service.ask('GET', `${reports}/cost_report?${query}`)
          assert.equal(status, 400, query)
          assert.match(JSON.stringify(body), words)
        }
        const { key } = await service.operatorKey('default', { name: 'plain', admin: false })
        const plain = callerAt(service.base, key)
        assert.equal((await plain.ask('GET', `${reports}/cost_report?${from}`)).status, 403)
      },
    )

    verifies('usage/csv', 'usage is also CSV, by header and by query', async () => {
      const asked = `${path}?${from}&group_by=model&group_by=session_id`
      const [byHeader, byQuery] = await Promise.all([
        service.raw('GET', asked, undefined, { accept: 'text/csv' }),
        service.raw('GET', `${asked}&format=csv`),
      ])
      const text = await byQuery.text()
      assert.equal(await byHeader.text(), text)
      assert.match(byQuery.headers.get('content-type') ?? '', /^text\/csv/)
      const [head, ...lines] = text.trimEnd().split('\r\n')
      assert.match(head ?? '', /^starting_at,ending_at,model,agent_id,session_id,/)
      assert.equal(lines.length, 3)
      const mine = lines.find((line) => line.includes(deleted)) ?? ''
      assert.ok(mine.endsWith(',2,6,20,14,0,2.0002,USD'), mine)
    })

    verifies('usage/bounds', 'a report of more buckets than there may be is refused', async () => {
      await refused('starting_at=2024-01-01T00:00:00Z', /400 buckets of 1d/)
      await refused(`${from}&bucket_width=1h&ending_at=2026-05-01T00:00:00Z`, /744 buckets of 1h/)
      await refused(`${from}&ending_at=2026-02-01T00:00:00Z`, /behind starting_at/)
      await refused('starting_at=2999-01-01T00:00:00Z', /"starting_at: must lie before now, /)
      await refused(`${from}&group_by=title`, /group_by/)
    })

    verifies('usage/report', 'no workspace sees the usage of another', async () => {
      const { key } = await service.otherWorkspace('other')
      const answer = await service.ask<UsageReport>('GET', `${path}?${from}`, undefined, {
        'x-api-key': key,
      })
      assert.deepEqual([answer.status, answer.body.data], [200, []])
    })

    verifies(
      'usage/probes',
      'the request that tries a model card counts, whether the card is kept as it is or changed',
      async () => {
        const probe = { input: 100, output: 10 }
        const price = { input: 1_000, output: 1_000 }
        const tried = await pricedModel(service, stub, price, probe)
        const cards = await service.ask<{ data: { id: string; model_id: string }[] }>(
          'GET',
          '/v1/ext/model_cards',
        )
        const card = cards.body.data.find(({ model_id }) => model_id === tried)
        await service.ask('POST', `/v1/ext/model_cards/${card?.id}`, { display_name: 'again' })
        const groups = 'group_by[]=model&group_by[]=agent_id&group_by[]=session_id'
        const all = (await report(`bucket_width=1d&${groups}`)).flatMap(({ results }) => results)
        const used = all.filter(({ model: each }) => each === tried)
        assert.deepEqual(
          used.map((each) => [each.requests, each.output_tokens, each.agent_id, each.session_id]),
          [[2, 20, null, null]],
        )
        assert.equal(used[0]?.list_cost?.amount, '22')
      },
    )

    verifies(
      'usage/retention',
      'old usage is kept by days: the sums stay, and sessions are no longer distinguished',
      async () => {
        const before = await report('group_by=model')
        assert.equal(await sumOldUsage(service.tenantDatabase, now + 86_400_000), true)
        assert.deepEqual(await report('group_by=model'), before)
        const [day] = await report('group_by=session_id')
        assert.deepEqual(
          day?.results.map(({ session_id }) => session_id),
          [null],
        )
      },
    )
  })
}
