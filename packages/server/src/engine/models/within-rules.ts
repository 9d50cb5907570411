/** Models that are asked only while operator and workspace allow them. */
import type { ModelCall, ModelEvent } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { ResolveModel } from '../../resources/model-cards/resolve.ts'

export const withinModelRules =
  (resolve: ResolveModel, rules: Rules): ResolveModel =>
  async (tenant, ref) => {
    const found = await resolve(tenant, ref)
    if (!found.ok) return found
    const { model, names } = found

    /** Asked before each request: a list may have changed since the turn began. */
    function streamed(call: ModelCall): AsyncIterable<ModelEvent> {
      const refusal = rules.refusal(tenant, 'models', names)
      return refusal === undefined ? model.stream(call) : unlessRefused(refusal, call)
    }

    async function* unlessRefused(
      refusal: string | Promise<string | undefined>,
      call: ModelCall,
    ): AsyncIterable<ModelEvent> {
      const failure = await Promise.resolve(refusal).then(
        (message) => message && ({ kind: 'request_failed', retryable: false, message } as const),
        ({ message }: Error) => ({ kind: 'request_failed', retryable: true, message }) as const,
      )
      if (failure) yield { type: 'failed', failure, usage: noUsage }
      else yield* model.stream(call)
    }

    return { ...found, model: { ...model, stream: streamed } }
  }
