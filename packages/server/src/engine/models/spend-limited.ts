/** Models that are asked only while their workspace may spend more. */
import type { Model, ModelCall, ModelEvent } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import { computeCost } from '@steward/model/price.ts'
import type { Price } from '@steward/model/price.ts'
import type { ResolveModel } from '../../resources/model-cards/resolve.ts'
import type { Spending } from '../../tenants/limits/spending/spending.ts'

export const withinSpendLimits =
  (resolve: ResolveModel, spending: Spending): ResolveModel =>
  async (tenant, ref) => {
    const found = await resolve(tenant, ref)
    if (!found.ok) return found
    const { model, price } = found
    return { ...found, model: { ...model, stream: (call) => streamed(call, { model, price }) } }

    /** Returns the model's own stream when the workspace has no spend limit. */
    function streamed(call: ModelCall, of: { model: Model; price: Price | null }) {
      const refusal = spending.refusal(tenant, of.price !== null)
      return refusal ? counted(refusal, call, of) : of.model.stream(call)
    }

    async function* counted(
      refusal: Promise<string | undefined>,
      call: ModelCall,
      of: { model: Model; price: Price | null },
    ): AsyncIterable<ModelEvent> {
      const failure = await refusal.then(
        (message) => message && ({ kind: 'billing', retryable: false, message } as const),
        ({ message }: Error) => ({ kind: 'request_failed', retryable: true, message }) as const,
      )
      if (failure) {
        yield { type: 'failed', failure, usage: noUsage }
        return
      }
      for await (const event of of.model.stream(call)) {
        if ((event.type === 'end' || event.type === 'failed') && of.price)
          spending.add(tenant, computeCost(event.usage, of.price))
        yield event
      }
    }
  }
