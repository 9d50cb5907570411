/** A model whose first answer waits for the test, so that a turn lasts as long as the test needs on any machine. */
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel, says as saysAtCost } from './priced-model.ts'
import type { ServiceClients } from './service.ts'

type HeldModel = AsyncDisposable & {
  /** The handle of the model's card. */
  model: string
  /** Resolves when the turn has asked for the first answer. */
  asked: Promise<void>
  /** Sends the first answer. */
  release(): void
}

const says = (text: string) => saysAtCost(text, { input: 1, output: 1 })

/** The model says `first` when the test releases it, then each of `others` at once. It repeats the last. */
export async function startHeldModel(
  service: ServiceClients,
  first: string,
  ...others: string[]
): Promise<HeldModel> {
  const stub = await startStub(anthropicDialect)
  const model = await pricedModel(service, stub, { input: 1, output: 1 })
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  function hold(): Promise<void> {
    asked.resolve()
    return released.promise
  }
  stub.replies({ answer: says(first), hold }, ...others.map(says))
  return {
    model,
    asked: asked.promise,
    release: released.resolve,
    [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose](),
  }
}
