/** Turns that last until the test lets them end, however slow the machine is. */
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel, says as saysAtCost } from './priced-model.ts'
import type { ServiceClients } from './service.ts'

type HeldModel = AsyncDisposable & {
  /** The handle of the model's card. */
  model: string
  /** Resolves when the turn has asked for the first answer. */
  asked: Promise<void>
  /** Lets the first answer go out. */
  release(): void
}

const says = (text: string) => saysAtCost(text, { input: 1, output: 1 })

/** A model that says `first` when the test releases it, and each of the others at once; the last one again and again. */
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
