import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { MediaResult } from './content.ts'
import { newEventId, userMessage } from './fixture.ts'
import { emptyHistory, foldHistory, buildMessages, resolveContent, sizeOf } from './history.ts'
import type { KeptEvent } from './kept-event.ts'

const origin = { provider: 'p', api: 'a', model: 'm' }
const fold = (...kept: KeptEvent[]) => foldHistory(emptyHistory(), kept)
const said = (text: string): KeptEvent => ({
  event: { id: newEventId(), type: 'agent.message', content: [{ type: 'text', text }] },
  opaque: JSON.stringify({ origin }),
})
const use = (id: string, callId?: string): KeptEvent => ({
  event: { id, type: 'agent.tool_use', name: 'bash', input: {} },
  opaque: JSON.stringify({ origin, ...(callId === undefined ? {} : { call_id: callId }) }),
})
const result = (id: string, text = id): KeptEvent => ({
  event: {
    id: newEventId(),
    type: 'agent.tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text }],
    is_error: false,
  },
})
const content = (content: (NewEvent & { type: 'user.message' })['content']): KeptEvent => ({
  event: { id: newEventId(), type: 'user.message', content },
})

/** The roles of the messages; a result also has the id of its call. */
const shape = (messages: readonly Message[]): string[] =>
  messages.map((message) =>
    message.role === 'tool_result' ? `result ${message.tool_call_id}` : message.role,
  )

void describe('a history', () => {
  void it('is the same message, block by block, that the model had sent', () => {
    const thought: KeptEvent = {
      event: { id: 'e1', type: 'agent.thinking', thinking: 'hm' },
      opaque: JSON.stringify({ origin, state: 'sig', redacted: true }),
    }
    const call: KeptEvent = {
      event: { id: 'e2', type: 'agent.custom_tool_use', name: 'look', input: { a: [1] } },
      opaque: JSON.stringify({ origin, call_id: 'toolu_1', state: 's2' }),
    }
    const answer: KeptEvent = {
      event: { id: 'e3', type: 'user.custom_tool_result', custom_tool_use_id: 'e2' },
    }
    assert.deepEqual(buildMessages(fold(userMessage('go'), thought, said('so'), call, answer)), [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        origin,
        content: [
          { type: 'thinking', text: 'hm', redacted: true, state: 'sig' },
          { type: 'text', text: 'so' },
          { type: 'tool_call', id: 'toolu_1', name: 'look', input: { a: [1] }, state: 's2' },
        ],
      },
      {
        role: 'tool_result',
        tool_call_id: 'toolu_1',
        tool_name: 'look',
        content: [{ type: 'text', text: '(no output)' }],
        is_error: false,
      },
    ])
  })

  void it('has results right behind their calls, in the order of the calls', () => {
    const history = fold(
      ...[userMessage('go'), use('a'), use('b'), result('b'), userMessage('more')],
      ...[result('a'), said('done')],
    )
    assert.deepEqual(shape(buildMessages(history)), [
      ...['user', 'assistant', 'result a', 'result b', 'user', 'assistant'],
    ])
    const [, , first, second] = buildMessages(history)
    assert.equal(first?.role === 'tool_result' && first.is_error, false)
    assert.equal(second?.role === 'tool_result' && second.is_error, false)
  })

  void it('gives a call without a result one that says so, and ignores what comes too late', () => {
    const history = fold(use('a'), use('b'), result('b'), said('on'), result('a'), result('a'))
    assert.deepEqual(shape(buildMessages(history)), [
      ...['assistant', 'result a', 'result b', 'assistant'],
    ])
    const [, first] = buildMessages(history)
    assert.equal(first?.role === 'tool_result' && first.is_error, true)
  })

  void it('takes the first of two answers to a call', () => {
    const [, answer] = buildMessages(fold(use('a'), result('a', 'first'), result('a', 'second')))
    assert.deepEqual(answer?.role === 'tool_result' && answer.content, [
      { type: 'text', text: 'first' },
    ])
  })

  void it('distinguishes calls to which the provider gave one id, or none', () => {
    const history = fold(
      ...[use('a', 'call_0'), use('b', 'call_0'), use('c', '')],
      ...[result('c'), result('b'), result('a')],
    )
    assert.deepEqual(shape(buildMessages(history)).slice(1), [
      ...['result call_0', 'result b', 'result c'],
    ])
  })

  void it('omits confirmations, statuses and spans', () => {
    const event: NewEvent = {
      id: 'x',
      type: 'user.tool_confirmation',
      tool_use_id: 'a',
      result: 'allow',
    }
    const idle: NewEvent = {
      id: 'y',
      type: 'session.status_idle',
      stop_reason: { type: 'end_turn' },
      stop_details: null,
    }
    assert.deepEqual(buildMessages(fold({ event }, { event: idle })), [])
  })

  void it('is never changed by what is folded onto it', () => {
    const begun = fold(userMessage('go'), use('a'))
    const before = JSON.stringify(buildMessages(begun))
    const one = foldHistory(begun, [result('a', 'one'), said('1'), userMessage('next')])
    const two = foldHistory(begun, [result('a', 'two'), said('2'), userMessage('next')])
    const further = foldHistory(one, [said('3')])
    assert.equal(JSON.stringify(buildMessages(begun)), before)
    assert.match(JSON.stringify(buildMessages(two)), /"two".*"2"/)
    assert.doesNotMatch(JSON.stringify(buildMessages(two)), /"one"|"1"/)
    assert.doesNotMatch(JSON.stringify(buildMessages(one)), /"two"|"3"/)
    assert.match(JSON.stringify(buildMessages(further)), /"one".*"1".*"3"/)
  })

  void it('costs what is new, however long it is', () => {
    const round = [userMessage('go'), use('a'), result('a'), said('ok')]
    let history = emptyHistory()
    for (let turn = 0; turn < 5_000; turn++) history = foldHistory(history, round)
    const { settled } = history
    history = foldHistory(history, round)
    assert.equal(history.settled, settled)
    assert.ok(sizeOf(history) > 5_000 * 200)
  })
})

void describe('content that lies elsewhere', () => {
  const image = content([
    { type: 'text', text: 'look' },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    { type: 'document', source: { type: 'file', file_id: 'file_1' }, title: 'Plan' },
  ])

  void it('is read once for each block, before the model is asked', async () => {
    const asked: unknown[] = []
    const bring = async (wanted: unknown): Promise<MediaResult> => {
      asked.push(wanted)
      return { ok: true, media_type: 'image/png', data: 'AAAA' }
    }
    const history = await resolveContent(fold(image), bring)
    assert.deepEqual(buildMessages(history), [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', media_type: 'image/png', data: 'AAAA' },
          { type: 'document', media_type: 'image/png', data: 'AAAA', title: 'Plan' },
        ],
      },
    ])
    assert.equal(asked.length, 2)
    assert.equal(await resolveContent(history, bring), history)
    assert.ok(sizeOf(history) > sizeOf(fold(image)))
  })

  void it('is read for results of open calls, and for messages behind them', async () => {
    const answer: KeptEvent = {
      event: {
        id: 'r',
        type: 'user.custom_tool_result',
        custom_tool_use_id: 'b',
        content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } }],
      },
    }
    const history = await resolveContent(fold(use('a'), use('b'), answer, image), async () => ({
      ok: true,
      media_type: 'image/png',
      data: 'AAAA',
    }))
    assert.equal(JSON.stringify(buildMessages(history)).match(/AAAA/g)?.length, 3)
  })

  void it('is a text that says why, where it could not be had', async () => {
    const refused = await resolveContent(fold(image), async () => ({
      ok: false,
      message: 'the address is private',
    }))
    assert.match(JSON.stringify(buildMessages(refused)), /a\.png: the address is private/)
    assert.match(JSON.stringify(buildMessages(fold(image))), /a\.png: its content is not available/)
  })

  void it('is a document when it is plain text, and text when it is a search result', () => {
    const found: KeptEvent = {
      event: {
        id: 'r',
        type: 'agent.tool_result',
        tool_use_id: 'a',
        content: [
          {
            type: 'search_result',
            citations: { enabled: false },
            source: 'https://example.com',
            title: 'Title',
            content: [{ type: 'text', text: 'body' }],
          },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'hé' },
          },
        ],
      },
    }
    const [, answer] = buildMessages(fold(use('a'), found))
    assert.deepEqual(answer?.role === 'tool_result' && answer.content, [
      { type: 'text', text: 'Title\nhttps://example.com\nbody' },
      {
        type: 'document',
        media_type: 'text/plain',
        data: Buffer.from('hé').toString('base64'),
      },
    ])
  })
})
