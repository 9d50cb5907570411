import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message } from '@steward/model/model.ts'
import { shortenTexts, buildTranscript } from './transcript.ts'

const origin = { provider: 'p', api: 'a', model: 'm' }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const result = (text: string): Message => ({
  role: 'tool_result',
  tool_call_id: '1',
  tool_name: 'bash',
  content: [{ type: 'text', text }],
  is_error: true,
})

void describe('a transcript', () => {
  void it('names the speaker of each message, files and pictures, and omits thinking', () => {
    const messages: Message[] = [
      { role: 'system', content: [{ type: 'text', text: 'be kind' }] },
      {
        role: 'user',
        content: [
          { type: 'document', media_type: 'application/pdf', data: 'BYTES', title: 'plan.pdf' },
          { type: 'image', media_type: 'image/png', data: 'BYTES' },
        ],
      },
      {
        role: 'assistant',
        origin,
        content: [
          { type: 'thinking', text: 'HIDDEN' },
          { type: 'text', text: 'I look' },
          { type: 'tool_call', id: '1', name: 'bash', input: { command: 'ls' } },
        ],
      },
      result('none'),
    ]
    assert.equal(
      buildTranscript(messages, 1_000),
      [
        'System: be kind',
        'User: [document plan.pdf]\n[image image/png]',
        'Assistant: I look\n[calls bash {"command":"ls"}]',
        'Result of bash (failed): none',
      ].join('\n\n'),
    )
  })

  void it('shortens what tools said first', () => {
    const text = buildTranscript([user('u'.repeat(3_000)), result('r'.repeat(50_000))], 12_000)
    assert.match(text, /u{3000}/)
    assert.match(text, /characters left out/)
  })

  void it('keeps the beginning and the newest when even that is too much', () => {
    const middle = Array.from({ length: 200 }, (_, n) => user(`middle ${n} ${'m'.repeat(100)}`))
    const text = buildTranscript([user('the first'), ...middle, user('the last')], 2_000)
    assert.match(text, /^User: the first[^]*messages left out[^]*User: the last$/)
  })

  void it('never is longer than it may be', () => {
    const messages = [
      user('a'.repeat(5_000)),
      ...Array.from({ length: 50 }, () => result('é'.repeat(700))),
    ]
    for (let most = 200; most < 50_000; most += 777)
      assert.ok(buildTranscript(messages, most).length <= most, `${most}`)
    assert.equal(shortenTexts('short', 10), 'short')
  })
})
