import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { EventListQuery } from '@steward/protocol/event-queries.ts'
import type { Cut, EventStep } from '@steward/protocol/light-events.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { ResultContent } from '@steward/protocol/content.ts'
import type { Page } from '@steward/protocol/primitives.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database, Reads } from '../../../ground/database/database.ts'
import { everyShape } from '../../../ground/database/shapes-fixture.ts'
import { parseInput } from '../../../ground/http/bodies/body.ts'
import { queryObject } from '../../../ground/http/query.ts'
import { newSession } from '../../fixture.ts'
import { appendEntries } from '../../log/append.ts'
import { agentMessage, insertHead, keepEvents, tenant } from '../../log/fixture.ts'
import { takeWaiting } from '../../log/inbox.ts'
import { readLogPage } from '../../log/log.ts'
import { ranCall, text } from '../fixture.ts'
import { postInUnits } from '../post.ts'
import { eventById, eventPage } from '../read.ts'
import { cutFields } from './cut-fields.ts'

type Shown = Record<string, unknown> & {
  id: string
  type: string
  seq: number
  cut?: Cut[]
  step?: EventStep
}

async function readPage(
  read: Reads,
  session: string,
  query: string,
): Promise<{ page: Page<Shown>; size: number }> {
  const asked = parseInput(EventListQuery, queryObject(new URLSearchParams(`view=light&${query}`)))
  const reply = await eventPage(read, tenant, session, asked, 'interface')
  assert.ok(reply.reply === 'text')
  return { page: JSON.parse(reply.text), size: reply.text.length }
}

const resultOf = (call: string, content: ResultContent[], is_error = false): NewEvent => ({
  id: newId('event'),
  type: 'agent.tool_result',
  tool_use_id: call,
  content,
  is_error,
})

const document = () => ({
  type: 'document' as const,
  source: { type: 'text' as const, media_type: 'text/plain' as const, data: 'words' },
})

const image = (bytes: number): ResultContent => ({
  type: 'image',
  source: {
    type: 'base64',
    media_type: 'image/png',
    data: Buffer.alloc(bytes, 7).toString('base64'),
  },
})

/** Texts that JSON writes with escapes, and characters of several bytes, so that each kind of cut falls everywhere. */
const awkward = [
  'x',
  'ü',
  '🙂',
  '"',
  '\\',
  '\n',
  '\u001b[31m',
  'a\\"},{"b',
  'line of a log with "words"\n',
  '","text":"',
]

const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((each, name) => (each as Record<string, unknown>)[name], value)

/** Compares what the database has cut with the whole events. */
async function assertCutTruly({ read }: Database, session: string): Promise<void> {
  const shownEvents: Shown[] = []
  for (let cursor = ''; ;) {
    const { page } = await readPage(read, session, `limit=1000&include=chunks${cursor}`)
    shownEvents.push(...page.data)
    if (page.next_page === null) break
    cursor = `&page=${page.next_page}`
  }
  const whole = await readLogPage(read, tenant, session, {
    limit: 1_000,
    bytes: 1e9,
    extensions: true,
  })
  assert.equal(shownEvents.length, whole.rows.length)
  for (const [index, { data, type }] of whole.rows.entries()) {
    const shown = shownEvents[index]
    assert.ok(shown)
    const fields: Record<string, unknown> = JSON.parse(data)
    const expected = cutFields(fields, { head: 400, tail: 0 })
    const cuts = shown.cut ?? []
    assert.ok(data.length < 4_000 || cuts.length > 0, `${type} of ${data.length} is cut`)
    for (const { at: columns, bytes, tail = '' } of cuts) {
      const original = String(at(fields, columns))
      const exact = expected.cut.find((each) => each.at === columns)
      assert.equal(bytes, exact?.bytes, columns)
      const head = String(at(shown, columns))
      assert.ok(original.startsWith(head.replace(/\ufffd$/, '')), `${columns} begins so`)
      assert.ok(original.endsWith(tail.replace(/^\ufffd/, '')), `${columns} ends so`)
    }
  }
}

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a light page of events on ${dialect}`, () => {
    it('says truly how long each text is, how it begins and how it ends', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const events = awkward.flatMap((each): NewEvent[] => {
        const [long, other] = [each.repeat(5_000), each.repeat(4_100)]
        const call = newId('event')
        return [
          agentMessage(long),
          { id: newId('event'), type: 'agent.thinking', thinking: long },
          { ...ranCall(), type: 'agent.tool_use', input: { command: long } },
          {
            ...ranCall(),
            type: 'agent.tool_use',
            input: { old: long, new: other, list: [long, long] },
          },
          resultOf(call, [{ type: 'text', text: long }], true),
          resultOf(call, [
            { type: 'text', text: long },
            { type: 'text', text: other },
          ]),
          resultOf(call, [{ type: 'text', text: long }, image(9_000)]),
          resultOf(call, [{ type: 'text', text: 'short' }, image(9_001)]),
          resultOf(call, [
            { ...document(), title: long, context: other },
            { type: 'text', text: 'short' },
          ]),
          resultOf(call, [{ ...document(), title: long, context: other }]),
          resultOf(call, [image(3_002)]),
        ]
      })
      await keepEvents(database, session, events)
      await assertCutTruly(database, session)
      const { page } = await readPage(database.read, session, 'limit=11')
      assert.ok(!JSON.stringify(page).includes('BwcHBwcH'), 'no base64')
      const last = page.data.at(-1)
      assert.deepEqual(last?.cut, [{ at: '/content/0/source/data', bytes: 3_002 }])
      assert.equal(page.data[4]?.['is_error'], true)
      // Only texts beside other long texts are read whole.
      assert.equal(page.data.length, 11)
    })

    it('shows messages that are stored in pieces by their beginning and end', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const clock = { ...systemClock, now: () => 0 }
      const long = `a${'🙂"'.repeat(1_000_000)}end`
      for (const content of [text(long), [...text(long), ...text('another')]])
        await postInUnits(database, { tenant, session, clock }, [{ type: 'user.message', content }])
      await database.write(async (tx) => {
        const entries = await takeWaiting(tx, tenant, session, 100)
        await appendEntries(tx, tenant, session, entries, { now: 0 })
      })
      await assertCutTruly(database, session)
    })

    it('holds a thousand results of 100 KB in a megabyte, and steps with their tools', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const output = `${'2026-01-01 12:00:00 INFO did "something" at /a/b.ts\n'.repeat(1_900)}[exit 3]`
      for (let turn = 0; turn < 20; turn++) {
        const calls = Array.from({ length: 25 }, () => ({
          ...ranCall(),
          input: { command: 'npm test' },
        }))
        await keepEvents(database, session, calls, turn * 1_000)
        const results = calls.map(({ id }) => resultOf(id, [{ type: 'text', text: output }], true))
        await keepEvents(database, session, results, turn * 1_000 + 250)
      }
      const { page, size } = await readPage(database.read, session, 'limit=1000&order=desc')
      assert.equal(page.data.length, 1_000)
      assert.ok(size < 1_000_000, `${size} bytes`)
      const [newest] = page.data
      assert.equal(newest?.seq, 1_000)
      assert.deepEqual(newest.step, {
        type: 'tool_call',
        begun_by: newest['tool_use_id'],
        begun_seq: 975,
        tool: 'bash',
        started_at: new Date(19_000).toISOString(),
        duration_ms: 250,
        is_error: true,
        exit_code: 3,
      })
      const again = await readPage(database.read, session, `limit=25&order=asc&after_seq=25`)
      assert.equal(again.page.data[0]?.step?.begun_seq, 1, 'the call stands on the page before')
    })

    it('ends before it is longer than a megabyte, and goes on behind', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const long = 'x'.repeat(1_900)
      await keepEvents(
        database,
        session,
        Array.from({ length: 900 }, () => agentMessage(long)),
      )
      const first = await readPage(database.read, session, 'limit=1000')
      assert.ok(first.page.has_more && first.size < 1_100_000)
      const second = await readPage(
        database.read,
        session,
        `limit=1000&page=${first.page.next_page}`,
      )
      assert.equal(first.page.data.length + second.page.data.length, 900)
      assert.equal(second.page.data.at(-1)?.seq, 900)
    })

    it('says what a request to the model cost, and which model was asked', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const usage = {
        input_tokens: 1_000,
        output_tokens: 10,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      }
      const asks = async (
        id: string,
        price: { input: number; output: number; cacheRead: number; cacheWrite: number } | null,
        now: number,
      ) => {
        await keepEvents(database, session, [{ id, type: 'span.model_request_start' }], now)
        const event: NewEvent = {
          id: `${id}_end`,
          type: 'span.model_request_end',
          model_request_start_id: id,
          is_error: false,
          model_usage: usage,
        }
        await database.write((tx) =>
          appendEntries(tx, tenant, session, [{ event, model: { name: 'a-model', price } }], {
            now: now + 1_500,
          }),
        )
      }
      await asks('sevt_1', { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 }, 0)
      await asks('sevt_2', null, 5_000)
      const { page } = await readPage(database.read, session, '')
      const step = { type: 'model_request', is_error: false, model: 'a-model', duration_ms: 1_500 }
      assert.deepEqual(
        page.data.map((each) => each.step),
        [
          undefined,
          {
            ...step,
            begun_by: 'sevt_1',
            begun_seq: 1,
            started_at: new Date(0).toISOString(),
            list_cost: { amount: '0.315', currency: 'USD' },
          },
          undefined,
          {
            ...step,
            begun_by: 'sevt_2',
            begun_seq: 3,
            started_at: new Date(5_000).toISOString(),
            list_cost: null,
          },
        ],
      )
      const ends = await readPage(database.read, session, 'types=span.model_request_end')
      assert.deepEqual(
        ends.page.data.map((each) => each.step),
        page.data.flatMap((each) => each.step ?? []),
        'the requests began on no page',
      )
    })

    it('leads to each event, however far back it lies', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      const events = Array.from({ length: 1_100 }, (_, index) => agentMessage(`the ${index}th`))
      await keepEvents(database, session, events)
      const ref = { tenant, session }
      for (const index of [0, 1, 99, 100, 599, 600, 1_099]) {
        const { id } = events[index] ?? agentMessage('none')
        const reply = await eventById(database.read, ref, id, 'interface')
        assert.ok(reply.reply === 'text' && reply.text.includes(`the ${index}th`))
      }
      const none = newId('event')
      await assert.rejects(eventById(database.read, ref, none, 'interface'), /event/)
      const other = { tenant: 'wrkspc_other', session }
      const id = events[0]?.id ?? ''
      await assert.rejects(eventById(database.read, other, id, 'interface'))
    })
  })
}
