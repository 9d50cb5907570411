/** A model that tells of each request when it has ended, whoever made it: a turn, a summary. */
import { observation } from '@steward/base/observation.ts'
import type { Model, ModelCall, ModelEvent, Usage } from './model.ts'
import { noUsage } from './model.ts'

export type EndedModelRequest = {
  /** Workspaces choose both names, so that there is no end to them. */
  provider: string
  model: string
  /** `interrupted`: nobody wanted the rest of the answer. */
  outcome: 'answered' | 'failed' | 'interrupted'
  ms: number
  /** Until the first piece of the answer; undefined where none came. */
  firstMs: number | undefined
  usage: Usage
}

export const modelRequestEnded = observation<EndedModelRequest>('model-request-ended')

export function observedModel(model: Model): Model {
  return {
    ...model,
    stream: (call) =>
      modelRequestEnded.isHeard() ? observedStream(model, call) : model.stream(call),
  }
}

async function* observedStream(model: Model, call: ModelCall): AsyncGenerator<ModelEvent> {
  const { provider, model: name } = model.origin
  const began = performance.now()
  const ended = { provider, model: name, outcome: 'interrupted' as const, usage: noUsage }
  let request: Omit<EndedModelRequest, 'ms' | 'firstMs'> = ended
  let firstMs: number | undefined
  try {
    for await (const event of model.stream(call)) {
      if (event.type !== 'end' && event.type !== 'failed') firstMs ??= performance.now() - began
      else request = { ...ended, usage: event.usage, outcome: outcomeOf(event, call) }
      yield event
    }
  } finally {
    modelRequestEnded.tell({ ...request, ms: performance.now() - began, firstMs })
  }
}

function outcomeOf(last: ModelEvent, { signal }: ModelCall): EndedModelRequest['outcome'] {
  if (last.type === 'end') return 'answered'
  return signal.aborted ? 'interrupted' : 'failed'
}
