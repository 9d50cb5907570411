/** A model that repeats recorded answers, without a key or a network. */
import type { AssistantBlock, Model, ModelEvent } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { Usage } from '@steward/model/model.ts'
import { isCall } from '@steward/protocol/call-events.ts'
import type { RecordedEvent } from './record.ts'

type RecordedAnswer = { blocks: AssistantBlock[]; usage: Usage }

/** The answers of a turn, one for each model request. */
function answersOf(made: readonly RecordedEvent[]): RecordedAnswer[] {
  const answers: RecordedAnswer[] = []
  let blocks: AssistantBlock[] = []
  for (const { event } of made) {
    if (event.type === 'span.model_request_start') blocks = []
    if (event.type === 'span.model_request_end') answers.push({ blocks, usage: event.model_usage })
    if (event.type === 'agent.thinking') blocks.push({ type: 'thinking', text: event.thinking })
    if (event.type === 'agent.message')
      for (const block of event.content)
        if (block.type === 'text') blocks.push({ type: 'text', text: block.text })
    if (isCall(event))
      blocks.push({ type: 'tool_call', id: event.id, name: event.name, input: event.input })
  }
  return answers
}

const noAnswer = {
  kind: 'request_failed' as const,
  retryable: false,
  message: 'the model was asked once more than the record has answers',
}

export function recordedModel(made: readonly RecordedEvent[]): Model {
  const answers = answersOf(made)
  return {
    origin: { provider: 'record', api: 'record', model: 'record' },
    contextWindow: Number.MAX_SAFE_INTEGER,
    maxOutputTokens: Number.MAX_SAFE_INTEGER,
    input: ['text', 'image', 'document'],
    async *stream(): AsyncGenerator<ModelEvent> {
      const answer = answers.shift()
      if (!answer) {
        yield { type: 'failed', failure: noAnswer, usage: noUsage }
        return
      }
      for (const [index, block] of answer.blocks.entries()) {
        if (block.type === 'tool_call') {
          const { id, name } = block
          yield { type: 'block_start', index, block: 'tool_call', id, name }
        } else yield { type: 'block_start', index, block: block.type }
        yield { type: 'block_end', index, block }
      }
      const calls = answer.blocks.some(({ type }) => type === 'tool_call')
      yield { type: 'end', stop: calls ? 'tool_use' : 'end_turn', usage: answer.usage }
    },
  }
}
