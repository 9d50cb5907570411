import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from './fixture.ts'
import { readHead, showHeadUsage } from './head.ts'
import { appendEntries } from './append.ts'
import { eventText, readAt, readEvents, readHistory, showEvent } from './log.ts'

const status = (type: 'running' | 'rescheduled' | 'terminated'): NewEvent => ({
  id: newId('event'),
  type: `session.status_${type}`,
})
const idle = (stop: 'end_turn' | 'refusal' = 'end_turn'): NewEvent => ({
  id: newId('event'),
  type: 'session.status_idle',
  stop_reason: { type: stop },
  stop_details: null,
})
const used = (
  input_tokens: number,
  output_tokens: number,
  cached = 0,
  is_error = false,
): NewEvent => ({
  id: newId('event'),
  type: 'span.model_request_end',
  model_request_start_id: 'sevt_x',
  is_error,
  model_usage: {
    input_tokens,
    output_tokens,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: cached * 2,
  },
})
const warned: NewEvent = {
  id: newId('event'),
  type: 'session.warning',
  reason: 'turn_recovered',
  message: 'went on',
}

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a log on ${dialect}`, () => {
    it('numbers events from 1 without gaps, whoever writes at the same time', async () => {
      await using opened = await open()
      const { database } = opened
      const [session, other] = [await insertHead(database), await insertHead(database)]
      const writers = Array.from({ length: 16 }, async (_, writer) => {
        const hosts = []
        for (let n = 0; n < 5; n++) {
          const events = Array.from({ length: 1 + (n % 3) }, () => agentMessage(`${writer}/${n}`))
          hosts.push(await keepEvents(database, session, events))
          if (n === 2) await keepEvents(database, other, [agentMessage('other')])
        }
        return hosts
      })
      const all = (await Promise.all(writers)).flat()
      const rows = await readEvents(database.read, tenant, session, { limit: 1000 })
      assert.deepEqual(
        rows.map((row) => row.seq),
        rows.map((_, index) => index + 1),
      )
      // The events of one append stand together, where it said they do.
      const texts = rows.map((row) => row.data)
      for (const appended of all) {
        assert.ok(appended)
        assert.equal(new Set(texts.slice(appended.first - 1, appended.last)).size, 1)
      }
      assert.equal((await readHead(database.read, tenant, session)).next_seq, rows.length)
      assert.equal((await readHead(database.read, tenant, other)).next_seq, 16)
    })

    it('gives no number to what was rolled back', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await keepEvents(database, session, [agentMessage('one')])
      const failing = database.write(async (tx) => {
        await appendEntries(tx, tenant, session, [{ event: agentMessage('never') }], { now: 0 })
        throw new Error('no')
      })
      await assert.rejects(failing)
      assert.deepEqual(await keepEvents(database, session, [agentMessage('two')]), {
        first: 2,
        last: 2,
      })
    })

    it('takes 1,500 events at once', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const many = Array.from({ length: 1500 }, (_, n) => agentMessage(String(n)))
      assert.deepEqual(await keepEvents(database, session, many), { first: 1, last: 1500 })
    })

    it('writes nothing for another tenant, and nothing for a session that is not there', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const elsewhere = (tenantId: string, id: string) =>
        database.write((tx) =>
          appendEntries(tx, tenantId, id, [{ event: agentMessage('x') }], { now: 0 }),
        )
      assert.equal(await elsewhere('wrkspc_other', session), undefined)
      assert.equal(await elsewhere(tenant, 'sesn_none'), undefined)
      assert.deepEqual(await readEvents(database.read, 'wrkspc_other', session, { limit: 9 }), [])
    })

    it('keeps when an event was accepted apart from when it was processed', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const created_at = '2026-01-01T00:00:00.000Z'
      const { id, type, ...fields } = agentMessage('late')
      const entry = { id, type, created_at, data: JSON.stringify(fields) }
      const now = Date.parse('2026-01-01T00:00:05.000Z')
      const hidden = { event: agentMessage('seen'), opaque: 'hidden' }
      await database.write((tx) => appendEntries(tx, tenant, session, [entry, hidden], { now }))
      const [row] = await readEvents(database.read, tenant, session, { limit: 1 })
      assert.ok(row)
      const { content } = { content: [{ type: 'text', text: 'late' }] }
      assert.deepEqual(showEvent(session, row, 'interface'), {
        id,
        type: 'agent.message',
        session_id: session,
        seq: 1,
        created_at,
        processed_at: '2026-01-01T00:00:05.000Z',
        content,
        data: { content },
      })
      const types = ['agent.message'] as const
      const options = { after: 0, types, limit: 9, bytes: 1_000 }
      const { rows } = await readHistory(database.read, tenant, session, options)
      assert.deepEqual(
        rows.map(({ opaque }) => opaque),
        [null, 'hidden'],
      )
      assert.equal((await readAt(database.read, tenant, session, [1, 3]))[0]?.id, id)
    })

    it('is shown as text as it would be written anew, in either dialect', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const call = { name: 'mcp__a__b', input: {}, mcp_server_name: 'a', mcp_tool_name: 'b' }
      const events: NewEvent[] = [
        agentMessage('say "it"\n\u2028é'),
        { id: newId('event'), type: 'session.deleted' },
        { id: newId('event'), type: 'agent.mcp_tool_use', ...call },
        { id: newId('event'), type: 'session.updated', title: 't', agent: { model: 'm' } },
      ]
      await keepEvents(database, session, events)
      const rows = await readEvents(database.read, tenant, session, { limit: 9 })
      assert.equal(rows.length, 4)
      for (const row of [...rows, ...rows.map((each) => ({ ...each, seq: null }))])
        for (const dialect of ['client', 'interface'] as const)
          assert.equal(
            eventText(session, row, dialect),
            JSON.stringify(showEvent(session, row, dialect)),
          )
    })

    it('gives a history in pages of so many bytes, or of one longer row', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      for (const length of [10, 4_000, 10, 10])
        await keepEvents(database, session, [agentMessage('x'.repeat(length))])
      const types = ['agent.message'] as const
      const seqs = async (after: number, limit: number) => {
        const options = { after, types, limit, bytes: 1_000 }
        const { rows, more } = await readHistory(database.read, tenant, session, options)
        return [rows.map(({ seq }) => seq), more]
      }
      assert.deepEqual(await seqs(0, 9), [[1, 2], true])
      assert.deepEqual(await seqs(2, 9), [[3, 4], false])
      assert.deepEqual(await seqs(2, 1), [[3], true])
    })

    it('is read by position, order, type and time', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const minute = (n: number) => Date.UTC(2026, 0, 1, 0, n)
      for (const [n, event] of [
        agentMessage('1'),
        status('running'),
        warned,
        agentMessage('4'),
        idle(),
      ].entries())
        await keepEvents(database, session, [event], minute(n))
      const seqs = async (range: Partial<Parameters<typeof readEvents>[3]>) => {
        const rows = await readEvents(database.read, tenant, session, { limit: 99, ...range })
        return rows.map((row) => row.seq)
      }
      assert.deepEqual(await seqs({}), [1, 2, 4, 5])
      assert.deepEqual(await seqs({ extensions: true }), [1, 2, 3, 4, 5])
      assert.deepEqual(await seqs({ order: 'desc', limit: 2 }), [5, 4])
      assert.deepEqual(await seqs({ after: 1, before: 5 }), [2, 4])
      assert.deepEqual(await seqs({ types: ['agent.message', 'session.warning'] }), [1, 3, 4])
      assert.deepEqual(await seqs({ types: ['no.such_type'] }), [])
      const at = new Date(minute(1)).toISOString()
      assert.deepEqual(await seqs({ processed: [{ op: '>', at }] }), [4, 5])
      assert.deepEqual(await seqs({ processed: [{ op: '>=', at }] }), [2, 4, 5])
      assert.deepEqual(await seqs({ processed: [{ op: '<', at }] }), [1])
      const until = { op: '<=' as const, at: new Date(minute(3)).toISOString() }
      assert.deepEqual(await seqs({ processed: [{ op: '>', at }, until] }), [4])
    })
  })

  describe(`the head of a log on ${dialect}`, () => {
    it('has the status after the last event, and why it is idle', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database, { status: 'pending' })
      const steps: [NewEvent[], string, object | null][] = [
        [[agentMessage('no change')], 'pending', null],
        [[status('running')], 'running', null],
        [[status('rescheduled')], 'rescheduling', null],
        [[status('running'), agentMessage('x')], 'running', null],
        [[agentMessage('x'), idle('refusal')], 'idle', { type: 'refusal' }],
        [[agentMessage('still idle')], 'idle', { type: 'refusal' }],
        [[idle(), status('running')], 'running', null],
        [[idle()], 'idle', { type: 'end_turn' }],
        [[status('terminated')], 'done', null],
        [[{ id: newId('event'), type: 'session.deleted' }], 'deleted', null],
      ]
      for (const [events, expected, stop] of steps) {
        await keepEvents(database, session, events)
        const head = await readHead(database.read, tenant, session)
        assert.equal(head.status, expected)
        assert.deepEqual(JSON.parse(head.stop_reason ?? 'null'), stop)
      }
    })

    it('sums up what model requests used, those that failed among them', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      await keepEvents(database, session, [used(10, 1), agentMessage('x'), used(5, 2, 100)])
      await keepEvents(database, session, [used(0, 4, 0, true)])
      const usage = showHeadUsage(await readHead(database.read, tenant, session), 0)
      assert.deepEqual(usage, {
        input_tokens: 15,
        output_tokens: 7,
        cache_read_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 0 },
        active_seconds: 0,
        list_cost: null,
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      })
    })

    it('sums up the web searches of results, also in a session that asks no model', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const entries = [1, undefined, 2].map((web_searches) => ({
        event: agentMessage('x'),
        ...(web_searches !== undefined && { web_searches }),
      }))
      await database.write((tx) => appendEntries(tx, tenant, session, entries, { now: 0 }))
      const { server_tool_use } = showHeadUsage(await readHead(database.read, tenant, session), 0)
      assert.deepEqual(server_tool_use, { web_search_requests: 3, web_fetch_requests: 0 })
    })

    it('counts the time in which the session ran, and no other', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const active = async (now: number) =>
        showHeadUsage(await readHead(database.read, tenant, session), now).active_seconds
      await keepEvents(database, session, [status('running')], 1_000)
      assert.equal(await active(3_000), 2)
      await keepEvents(database, session, [status('running')], 4_000)
      await keepEvents(database, session, [agentMessage('x')], 5_000)
      await keepEvents(database, session, [idle()], 11_000)
      assert.equal(await active(50_000), 10)
      await keepEvents(database, session, [idle()], 60_000)
      await keepEvents(database, session, [status('running')], 100_000)
      await keepEvents(database, session, [status('rescheduled')], 101_000)
      assert.equal(await active(200_000), 11)
      await keepEvents(database, session, [status('running')], 300_000)
      await keepEvents(database, session, [status('terminated')], 300_500)
      assert.equal(await active(900_000), 11.5)
    })

    it('becomes due or not, and gives its lease back, with an append', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database, { owner: 'proc_a', expires_at: 9, due: 1 })
      const fence = { owner: 'proc_a', generation: 0 }
      const set = { owner: null, expires_at: 0 }
      const options = { now: 0, fence, due: false, set }
      const appended = await database.write((tx) => appendEntries(tx, tenant, session, [], options))
      assert.ok(appended)
      const head = await readHead(database.read, tenant, session)
      assert.deepEqual([head.due, head.owner, head.next_seq], [0, null, 0])
    })
  })
}
