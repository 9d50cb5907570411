import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { markdownOf } from './markdown-of.ts'
import { cutTextOf, imagesOf } from './texts.ts'

const base64 = (media_type: string, data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})

void describe('the texts of a session', () => {
  void it('shows a cut result with its end behind a mark', () => {
    const cut = [{ at: '/content/0/text', bytes: 90_000, tail: 'the end' }]
    assert.equal(
      cutTextOf({ content: [{ type: 'text', text: 'begin' }], cut }),
      'begin\n…\nthe end',
    )
  })

  void it('shows pictures of formats without scripts, and nothing that is no picture', () => {
    const shown = imagesOf([
      base64('image/png', 'AAAA'),
      base64('image/svg+xml', 'AAAA'),
      base64('image/png', 'A"onerror='),
      { type: 'text', text: 'a' },
    ])
    assert.deepEqual(shown, [{ format: 'image/png', data: 'AAAA' }])
  })

  void it('writes a conversation whose outputs cannot end their fence', () => {
    const at = { session_id: 's', created_at: '2026-01-01T00:00:00Z', processed_at: null, seq: 1 }
    const events = [
      { ...at, id: 'c', type: 'agent.tool_use', name: 'bash', input: { command: 'cat a.md' } },
      {
        ...at,
        id: 'r',
        type: 'agent.tool_result',
        tool_use_id: 'c',
        is_error: false,
        content: [{ type: 'text', text: '```js\n1\n```' }],
      },
    ] as unknown[] as SessionEvent[]
    assert.match(markdownOf('A title', events), /^# A title\n\n\*\*bash\*\*/)
    assert.match(markdownOf('A title', events), /````\n```js\n1\n```\n````/)
  })
})
