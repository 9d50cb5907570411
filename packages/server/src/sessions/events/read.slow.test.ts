import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { EventListQuery } from '@steward/protocol/event-queries.ts'
import type { Page } from '@steward/protocol/primitives.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { unitOn } from '../../ground/bus/fixture.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from '../log/fixture.ts'
import { announceChange } from '../log/topics.ts'
import { parseInput } from '../../ground/http/bodies/body.ts'
import { queryObject } from '../../ground/http/query.ts'
import { eventPage, eventStream, wholeLog } from './read.ts'
import type { StreamView } from './wire.ts'

const page = (read: Reads, session: string, query: string) =>
  pageIn('interface', read, session, query)

const pageIn = (dialect: Dialect, read: Reads, session: string, query: string) =>
  shownPage(
    read,
    session,
    parseInput(EventListQuery, queryObject(new URLSearchParams(query))),
    dialect,
  )

async function shownPage(
  read: Reads,
  session: string,
  query: EventListQuery,
  dialect: Dialect,
): Promise<
  Page<Record<string, unknown> & { id: string; type: string; seq: number | null }> & {
    first_id: string | null
    last_id: string | null
  }
> {
  const reply = await eventPage(read, tenant, session, query, dialect)
  assert.ok(reply.reply === 'text')
  return JSON.parse(reply.text)
}

const seqs = (data: { seq: number | null }[]) => data.map(({ seq }) => seq)
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const warning = (id: string) =>
  ({ id, type: 'session.warning', reason: 'turn_recovered', message: 'm' }) as const

const refused = (error: unknown) =>
  error instanceof PlatformError && error.kind === 'invalid_request'

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a page of events on ${dialect}`, () => {
    it('holds 100 from the oldest unless something else is asked, and says what follows', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await keepEvents(
        database,
        session,
        Array.from({ length: 150 }, () => agentMessage('x')),
      )
      const first = await page(database.read, session, '')
      assert.deepEqual(seqs(first.data), numbers(1, 100))
      assert.ok(first.has_more && first.next_page)
      assert.equal(first.first_id, first.data[0]?.id)
      assert.equal(first.last_id, first.data.at(-1)?.id)
      const second = await page(database.read, session, `page=${first.next_page}`)
      assert.deepEqual(seqs(second.data), numbers(101, 150))
      assert.deepEqual([second.has_more, second.next_page], [false, null])
    })

    it('walks the whole history by its cursors, in either order, in pages of any size', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await keepEvents(
        database,
        session,
        Array.from({ length: 25 }, () => agentMessage('x')),
      )
      for (const order of ['asc', 'desc']) {
        for (const limit of [1, 5, 10, 25, 1000]) {
          const got: (number | null)[] = []
          let cursor: string | null = ''
          for (let pages = 0; cursor !== null; pages++) {
            const query = `order=${order}&limit=${limit}&${pages % 2 ? 'cursor' : 'page'}=${cursor}`
            const each: Awaited<ReturnType<typeof page>> = await page(database.read, session, query)
            got.push(...seqs(each.data))
            cursor = each.next_page
          }
          const expected = order === 'asc' ? numbers(1, 25) : numbers(1, 25).toReversed()
          assert.deepEqual(got, expected, `${order} by ${limit}`)
        }
      }
    })

    it('begins behind after_seq, and goes on from there', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await keepEvents(
        database,
        session,
        Array.from({ length: 10 }, () => agentMessage('x')),
      )
      const first = await page(database.read, session, 'after_seq=4&limit=3')
      assert.deepEqual(seqs(first.data), [5, 6, 7])
      const second = await page(
        database.read,
        session,
        `after_seq=4&limit=3&page=${first.next_page}`,
      )
      assert.deepEqual(seqs(second.data), [8, 9, 10])
      const back = await page(database.read, session, 'after_seq=4&order=desc&limit=3')
      assert.deepEqual(seqs(back.data), [10, 9, 8])
      const rest = await page(
        database.read,
        session,
        `after_seq=4&order=desc&page=${back.next_page}`,
      )
      assert.deepEqual(seqs(rest.data), [7, 6, 5])
      assert.deepEqual((await page(database.read, session, 'after_seq=10')).data, [])
    })

    it('shows the types asked for and no others; extensions only when named or with chunks', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const running = { id: 'sevt_r', type: 'session.status_running' } as const
      await keepEvents(database, session, [
        agentMessage('1'),
        warning('sevt_w'),
        running,
        agentMessage('4'),
      ])
      const shown = async (query: string) => seqs((await page(database.read, session, query)).data)
      assert.deepEqual(await shown(''), [1, 3, 4])
      assert.deepEqual(await shown('include=chunks'), [1, 2, 3, 4])
      assert.deepEqual(await shown('types[]=agent.message'), [1, 4])
      assert.deepEqual(
        await shown('types[]=session.warning&types[]=session.status_running'),
        [2, 3],
      )
      assert.deepEqual(await shown('types[]=no.such'), [])
    })

    it('has the start of a run among the extensions of the dialect of the client', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const type = 'session.status_run_started'
      const started = { id: 'sevt_s', type, workspace_id: 'wrkspc_1' } as const
      await keepEvents(database, session, [started, agentMessage('2')])
      const shown = async (dialect: Dialect, query: string) =>
        seqs((await pageIn(dialect, database.read, session, query)).data)
      assert.deepEqual(await shown('interface', ''), [1, 2])
      assert.deepEqual(await shown('client', ''), [2])
      assert.deepEqual(await shown('client', 'include=chunks'), [1, 2])
      assert.deepEqual(await shown('client', `types[]=${type}`), [1])
    })

    it('compares created_at filters with the time of processing', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const hour = (n: number) => Date.UTC(2026, 0, 1, n)
      for (const n of [1, 2, 3]) await keepEvents(database, session, [agentMessage('x')], hour(n))
      const shown = async (query: string) => seqs((await page(database.read, session, query)).data)
      assert.deepEqual(await shown('created_at[gt]=2026-01-01T02:00:00Z'), [3])
      assert.deepEqual(await shown('created_at[gte]=2026-01-01T02:00:00.000Z'), [2, 3])
      assert.deepEqual(await shown('created_at[lt]=2026-01-01T04:00:00%2B02:00'), [1])
      assert.deepEqual(
        await shown('created_at[gt]=2026-01-01T01:30:00Z&created_at[lte]=2026-01-01T02:00:00Z'),
        [2],
      )
    })

    it('refuses cursors of another session, of another order, or of nobody', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await insertHead(database), await insertHead(database)]
      await keepEvents(database, session, [agentMessage('1'), agentMessage('2')])
      const { next_page } = await page(database.read, session, 'limit=1')
      assert.ok(next_page)
      await assert.rejects(page(database.read, other, `page=${next_page}`), refused)
      await assert.rejects(page(database.read, session, `order=desc&page=${next_page}`), refused)
      await assert.rejects(page(database.read, session, 'page=garbage'), refused)
    })

    it('is empty for a session without events', async () => {
      await using opened = await open()
      const session = await insertHead(opened.database)
      assert.deepEqual(await page(opened.database.read, session, ''), {
        data: [],
        has_more: false,
        next_page: null,
        prev_page: null,
        first_id: null,
        last_id: null,
      })
    })
  })

  describe(`large events on ${dialect}`, () => {
    it('end a page early, in either order, and the pages still join without gaps', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const lengths = [2_250_000, 2_250_000, 10, 4_250_000, 4_250_000, 10]
      for (const length of lengths)
        await keepEvents(database, session, [agentMessage('é'.repeat(length / 2))])
      for (const order of ['asc', 'desc'] as const) {
        const pages: number[][] = []
        let page: string | undefined
        do {
          const query = { limit: 1000, order, page }
          const got = await shownPage(database.read, session, query, 'interface')
          pages.push(seqs(got.data).map(Number))
          assert.equal(got.has_more, got.next_page !== null)
          page = got.next_page ?? undefined
        } while (page)
        const expected = order === 'asc' ? [[1, 2], [3, 4], [5], [6]] : [[6, 5], [4], [3, 2, 1]]
        assert.deepEqual(pages, expected)
      }
      assert.deepEqual(seqs(await logOf(database.read, session)), numbers(1, 6))
    })
  })

  describe(`the whole log on ${dialect}`, () => {
    it('is one array without gaps, extensions included, of any length', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      for (const length of [999, 1, 1000, 7]) {
        const events = Array.from({ length: length - 1 }, () => agentMessage('x'))
        await keepEvents(database, session, [...events, warning(`sevt_${length}`)])
      }
      assert.deepEqual(seqs(await logOf(database.read, session)), numbers(1, 2007))
      const other = await insertHead(database)
      assert.deepEqual(await logOf(database.read, other), [])
    })

    it('is read in pages, as fast as its reader takes it', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const long = 'x'.repeat(20_000)
      await keepEvents(
        database,
        session,
        Array.from({ length: 300 }, () => agentMessage(long)),
      )
      const texts = wholeLog(database.read, tenant, session, 'interface')
      const first = (await texts.next()).value ?? ''
      assert.ok(first.startsWith('[{') && first.length < 2.5 * long.length, String(first.length))
      // Events that are appended during the read belong to it.
      await keepEvents(database, session, [agentMessage('late')])
      let text = first
      for await (const piece of texts) text += piece
      assert.deepEqual(seqs(JSON.parse(text) as { seq: number }[]), numbers(1, 301))
    })
  })
}

async function logOf(read: Reads, session: string) {
  let text = ''
  for await (const piece of wholeLog(read, tenant, session, 'interface')) text += piece
  return JSON.parse(text) as { seq: number }[]
}

describe('a stream of events', () => {
  const view: StreamView = { chunks: false, deltas: [], dialect: 'interface' }

  async function streaming(start: { replay: boolean; lastEventId: string | null }) {
    const opened = await databases.sqlite()
    const { database } = opened
    const bus = memoryBus()
    const session = await insertHead(database)
    await keepEvents(database, session, [agentMessage('1'), agentMessage('2'), agentMessage('3')])
    const source = { read: database.read, bus }
    const reply = await eventStream(source, tenant, session, view, start)
    assert.ok(reply.reply === 'stream')
    const leaving = new AbortController()
    const texts = reply.frames(leaving.signal)[Symbol.asyncIterator]()
    const ids = async (many: number) => {
      const got: (string | undefined)[] = []
      while (got.length < many) {
        const { value, done } = await texts.next()
        if (done) return [...got, 'ended']
        got.push(/^id: (.*)$/m.exec(value)?.[1])
      }
      return got
    }
    const add = async (...events: Parameters<typeof keepEvents>[2]) => {
      await keepEvents(database, session, events)
      announceChange(unitOn(bus), tenant, session)
    }
    return {
      ids,
      add,
      async [Symbol.asyncDispose]() {
        leaving.abort()
        await texts.return?.()
        await opened[Symbol.asyncDispose]()
      },
    }
  }

  it('begins with what comes next', async () => {
    for (const lastEventId of [null, '']) {
      await using at = await streaming({ replay: false, lastEventId })
      await at.add(agentMessage('4'))
      assert.deepEqual(await at.ids(1), ['4'])
    }
  })

  it('begins with the first event when a replay is asked for', async () => {
    await using at = await streaming({ replay: true, lastEventId: null })
    await at.add(agentMessage('4'))
    assert.deepEqual(await at.ids(4), ['1', '2', '3', '4'])
  })

  it('goes on behind the last event that its reader has seen, replay or not', async () => {
    for (const replay of [false, true]) {
      await using at = await streaming({ replay, lastEventId: '2' })
      await at.add(agentMessage('4'))
      assert.deepEqual(await at.ids(2), ['3', '4'])
    }
  })

  it('begins with what comes next for a reader who claims to have seen more than there is', async () => {
    await using at = await streaming({
      replay: false,
      lastEventId: String(Number.MAX_SAFE_INTEGER),
    })
    await at.add(agentMessage('4'))
    assert.deepEqual(await at.ids(1), ['4'])
  })

  it('is refused for a last event that is no seq', async () => {
    for (const lastEventId of ['x', '-1', '1.5', 'sevt_1', '0x1', '1e1', '9'.repeat(20)]) {
      await assert.rejects(streaming({ replay: false, lastEventId }), refused, lastEventId)
    }
  })

  it('stays open when its session idles, is archived or fails, and ends when it is deleted', async () => {
    await using at = await streaming({ replay: false, lastEventId: null })
    await at.add(
      {
        id: 'sevt_i',
        type: 'session.status_idle',
        stop_reason: { type: 'end_turn' },
        stop_details: null,
      },
      { id: 'sevt_t', type: 'session.status_terminated' },
    )
    assert.deepEqual(await at.ids(2), ['4', '5'])
    await at.add({ id: 'sevt_d', type: 'session.deleted' })
    assert.deepEqual(await at.ids(2), ['6', 'ended'])
  })
})
