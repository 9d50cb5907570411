/** For tests: a long conversation and a harness that compacts it. */
import type { AssistantBlock, ModelFailure } from '@steward/model/model.ts'
import type { ScriptedAnswer } from '../fake-model.ts'
import { newEventId, userMessage } from '../fixture.ts'
import type { KeptEvent } from '../kept-event.ts'
import type { Compaction, StrategyName } from './settings.ts'
import { readCompaction } from './settings.ts'

const origin = { provider: 'fake', api: 'fake', model: 'fake-1' }
const opaque = JSON.stringify({ origin })

export const overflowFailure: ModelFailure = {
  kind: 'context_overflow',
  retryable: false,
  message: 'prompt is too long',
}

export const nativeCompaction = (strategy: StrategyName, more: object = {}): Compaction =>
  readCompaction({ harness: 'native', metadata: { compaction_strategy: strategy, ...more } })

/** About 100 tokens for each of `hundreds`. */
export const manyWords = (name: string, hundreds: number): string =>
  `${name} ${'x'.repeat(hundreds * 350)}`

const agent = (text: string): KeptEvent => ({
  event: { id: newEventId(), type: 'agent.message', content: [{ type: 'text', text }] },
  opaque,
})

const counted = (input_tokens: number): KeptEvent => ({
  event: {
    id: newEventId(),
    type: 'span.model_request_end',
    model_request_start_id: 'sevt_start',
    is_error: false,
    model_usage: {
      input_tokens,
      output_tokens: 100,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    },
  },
})

/** A call of `bash` with its result. */
export function bashExchange(result: string): KeptEvent[] {
  const id = newEventId()
  const content = [{ type: 'text' as const, text: result }]
  return [
    { event: { id, type: 'agent.tool_use', name: 'bash', input: { command: 'ls' } }, opaque },
    {
      event: {
        id: newEventId(),
        type: 'agent.tool_result',
        tool_use_id: id,
        content,
        is_error: false,
      },
    },
  ]
}

const picture: KeptEvent = {
  event: {
    id: newEventId(),
    type: 'user.message',
    content: [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'SECRETBYTES' } },
      { type: 'text', text: 'look at this' },
    ],
  },
}

/** The provider has counted 90,000 of 100,000 tokens. The newest message is not answered. */
export const longConversation = (): KeptEvent[] => [
  picture,
  agent(manyWords('seen', 20)),
  ...bashExchange(manyWords('listing', 150)),
  agent(manyWords('done', 300)),
  counted(90_000),
  userMessage('the newest wish'),
]

export const summaryAnswer = (text = 'THE SUMMARY'): ScriptedAnswer => ({
  blocks: [{ type: 'text', text }],
  usage: {
    input_tokens: 11,
    output_tokens: 7,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  },
})

export const answeredWith = (...blocks: AssistantBlock[]): ScriptedAnswer => ({ blocks })
