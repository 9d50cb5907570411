import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

type ListPage = {
  data: LooseBody[]
  has_more: boolean
  next_page: string | null
  prev_page: string | null
  first_id: string | null
  last_id: string | null
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`lists on ${database}`, () => {
    let service: TestService
    const made: string[] = []
    before(async () => {
      service = await boot(database)
      for (let each = 0; each < 7; each++) {
        const body = { name: `agent ${each}`, model: 'offline', tools: [] }
        made.push((await service.ask('POST', '/v1/agents', body)).body.id)
      }
    })
    after(() => service.close())
    const page = async (query: string) =>
      (await service.ask<ListPage>('GET', `/v1/agents?${query}`)).body
    const ids = (of: ListPage) => of.data.map(({ id }) => id)

    verifies(
      ['lists/envelope', 'lists/next-page', 'lists/prev-page', 'lists/order', 'lists/cursor-names'],
      'pages lead there and back, newest first',
      async () => {
        const newest = made.toReversed()
        const first = await page('limit=3')
        assert.deepEqual(ids(first), newest.slice(0, 3))
        assert.deepEqual(
          [first.has_more, first.prev_page, first.first_id, first.last_id],
          [true, null, newest[0], newest[2]],
        )
        const second = await page(`limit=3&page=${first.next_page}`)
        assert.deepEqual(ids(second), newest.slice(3, 6))
        assert.deepEqual(ids(await page(`limit=3&cursor=${first.next_page}`)), newest.slice(3, 6))
        const last = await page(`limit=3&page=${second.next_page}`)
        assert.deepEqual(ids(last), newest.slice(6))
        assert.deepEqual([last.has_more, last.next_page], [false, null])
        const back = await page(`limit=3&page=${last.prev_page}`)
        assert.deepEqual(ids(back), newest.slice(3, 6))
        const start = await page(`limit=3&page=${back.prev_page}`)
        assert.deepEqual([ids(start), start.prev_page], [newest.slice(0, 3), null])
        const whole = await page('limit=7')
        assert.deepEqual([whole.has_more, whole.next_page], [false, null])
      },
    )

    verifies(
      ['lists/complete', 'agents/list'],
      'a walk shows every row once, while others are made',
      async () => {
        const seen = []
        let extra = 0
        for await (const { id } of service.client.beta.agents.list({ limit: 2 })) {
          seen.push(id)
          if (extra++ < 3) {
            const body = { name: 'late', model: 'offline', tools: [] }
            await service.ask('POST', '/v1/agents', body)
          }
        }
        assert.equal(new Set(seen).size, seen.length)
        for (const id of made) assert.ok(seen.includes(id))
      },
    )

    verifies(
      ['lists/bad-cursor'],
      'the cursor of one list is refused by another, and in another order',
      async () => {
        const { next_page } = await page('limit=1')
        const elsewhere = await service.ask('GET', `/v1/environments?page=${next_page}`)
        assert.equal(elsewhere.status, 400)
        await newSession(service)
        await newSession(service)
        const sessions = await service.ask<ListPage>('GET', '/v1/sessions?limit=1&order=asc')
        const turned = `/v1/sessions?limit=1&order=desc&page=${sessions.body.next_page}`
        assert.equal((await service.ask('GET', turned)).status, 400)
      },
    )

    verifies('lists/bytes', 'a page ends early by its bytes, and a walk meets all', async () => {
      const { beta } = service.client
      const text = 'x'.repeat(90_000)
      const schema = { type: 'object' as const, properties: { a: { description: text } } }
      const tools = Array.from({ length: 10 }, (_, n) => ({
        ...({ type: 'custom', name: `tool_${n}`, description: 'd', input_schema: schema } as const),
      }))
      const large = await beta.agents.create({ name: 'large', model: 'offline', tools })
      for (let version = 1; version < 10; version++)
        await beta.agents.update(large.id, { version, name: `large ${version}` })
      const environment = (await beta.environments.create({ name: fresh('large') })).id
      const made: string[] = []
      for (let each = 0; each < 10; each++)
        made.unshift(
          (await beta.sessions.create({ agent: large.id, environment_id: environment })).id,
        )
      const walk = async (path: string) => {
        const pages: ListPage[] = []
        for (let cursor = ''; ;) {
          const { body } = await service.ask<ListPage>('GET', `${path}limit=1000${cursor}`)
          assert.ok(JSON.stringify(body).length < 5_000_000)
          assert.equal(body.has_more, body.next_page !== null)
          pages.push(body)
          if (body.next_page === null) return pages
          cursor = `&page=${body.next_page}`
        }
      }
      const versions = await walk(`/v1/agents/${large.id}/versions?`)
      assert.deepEqual(
        versions.flatMap(({ data }) => data.map(({ version }) => version)),
        [10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
      )
      const sessions = await walk(`/v1/sessions?agent_id=${large.id}&`)
      assert.deepEqual(sessions.flatMap(ids), made)
      for (const pages of [versions, sessions])
        assert.deepEqual(
          pages.map(({ data }) => data.length),
          [4, 4, 2],
        )
      const last = sessions.at(-1)
      const back = await service.ask<ListPage>(
        'GET',
        `/v1/sessions?agent_id=${large.id}&limit=1000&page=${last?.prev_page}`,
      )
      assert.deepEqual(ids(back.body), made.slice(4, 8))
    })

    verifies('lists/created-at', 'time filters compare instants, in any offset', async () => {
      const all = (await page('limit=1000')).data
      const middle = all.at(-4)
      assert.ok(middle)
      const at = String(middle['created_at'])
      const shifted = new Date(Date.parse(at) + 7_200_000).toISOString().replace('Z', '+02:00')
      const range = async (name: string, value: string) =>
        ids(await page(`limit=1000&created_at[${name}]=${encodeURIComponent(value)}`))
      const times = all.map((each) => [each.id, String(each['created_at'])] as const)
      const expected = (keep: (time: string) => boolean) =>
        times.filter(([, time]) => keep(time)).map(([id]) => id)
      for (const value of [at, shifted]) {
        assert.deepEqual(
          await range('gte', value),
          expected((time) => time >= at),
        )
        assert.deepEqual(
          await range('gt', value),
          expected((time) => time > at),
        )
        assert.deepEqual(
          await range('lte', value),
          expected((time) => time <= at),
        )
        assert.deepEqual(
          await range('lt', value),
          expected((time) => time < at),
        )
      }
    })

    verifies(
      ['sessions/list', 'sessions/list/cursor', 'lists/prev-page', 'sessions/list/agent'],
      'sessions are listed in both orders and directions, and by agent and version',
      async () => {
        const { beta } = service.client
        const agent = await beta.agents.create({ name: 'listed', model: 'offline' })
        const environment = await beta.environments.create({ name: fresh('listed') })
        const at = { agent: agent.id, environment_id: environment.id }
        const sessions: string[] = []
        for (let each = 0; each < 3; each++) sessions.push((await beta.sessions.create(at)).id)
        await beta.agents.update(agent.id, { version: 1, name: 'listed again' })
        const second = (await beta.sessions.create(at)).id
        const found = async (query: object) => {
          const walked = []
          const list = beta.sessions.list({ limit: 2, agent_id: agent.id, ...query })
          for await (const { id } of list) walked.push(id)
          return walked
        }
        assert.deepEqual(await found({}), [second, ...sessions.toReversed()])
        assert.deepEqual(await found({ order: 'asc' }), [...sessions, second])
        assert.deepEqual(await found({ agent_version: 2 }), [second])
        const first = await beta.sessions.list({ limit: 2, agent_id: agent.id })
        const next = await first.getNextPage()
        const [newest, middle] = first.data
        assert.ok(newest && middle)
        const from = (times: object) =>
          beta.sessions.list({ limit: 2, page: first.next_page ?? '', ...times })
        await from({ 'created_at[lte]': newest.created_at })
        await assert.rejects(from({ 'created_at[gt]': middle.created_at }), /page: lies outside/)
        await assert.rejects(from({ order: 'asc' }), /page: this is not a cursor/)
        const query = { limit: 2, agent_id: agent.id, page: next.prev_page ?? '' }
        const back = await beta.sessions.list(query)
        assert.deepEqual(
          back.data.map(({ id }) => id),
          first.data.map(({ id }) => id),
        )
      },
    )
  })
}
