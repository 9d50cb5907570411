/** A model that reports the end of each request, whether a turn or a summary made the request. */
import { createObservation } from '@steward/base/observation.ts'
import type { Model, ModelCall, ModelEvent, ModelFailure, Usage } from './model.ts'
import { noUsage } from './model.ts'

export type EndedModelRequest = {
  /** Provider and model. Workspaces choose both names, so their number is unbounded. */
  provider: string
  model: string
  /** The `cacheKey` of the call. */
  conversation: string | undefined
  /** `interrupted`: nobody wanted the rest of the answer. */
  outcome: 'answered' | 'failed' | 'interrupted'
  /** The kind of the failure. */
  failure: ModelFailure['kind'] | undefined
  ms: number
  /** Time until the first piece of the answer; undefined when none came. */
  firstMs: number | undefined
  usage: Usage
}

export const modelRequestEnded = createObservation<EndedModelRequest>('model-request-ended')

export function observedModel(model: Model): Model {
  return {
    ...model,
    stream: (call) =>
      modelRequestEnded.isHeard() ? observedStream(model, call) : model.stream(call),
  }
}

async function* observedStream(model: Model, call: ModelCall): AsyncGenerator<ModelEvent> {
  const { model: name } = model.origin
  const provider = model.servedBy ?? model.origin.provider
  const began = performance.now()
  const ended = { provider, model: name, conversation: call.cacheKey, failure: undefined }
  let request: Omit<EndedModelRequest, 'ms' | 'firstMs'> = {
    ...ended,
    outcome: 'interrupted',
    usage: noUsage,
  }
  let firstMs: number | undefined
  try {
    for await (const event of model.stream(call)) {
      if (event.type !== 'end' && event.type !== 'failed') firstMs ??= performance.now() - began
      else request = { ...ended, ...endOf(event, call) }
      yield event
    }
  } finally {
    modelRequestEnded.tell({ ...request, ms: performance.now() - began, firstMs })
  }
}

function endOf(
  last: Extract<ModelEvent, { type: 'end' | 'failed' }>,
  { signal }: ModelCall,
): Pick<EndedModelRequest, 'outcome' | 'failure' | 'usage'> {
  const { usage } = last
  if (last.type === 'end') return { outcome: 'answered', failure: undefined, usage }
  return { outcome: signal.aborted ? 'interrupted' : 'failed', failure: last.failure.kind, usage }
}
