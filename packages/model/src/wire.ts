/** Models that are reached over a provider's protocol. */
import { runOnceEach } from '@steward/base/shared-runs.ts'
import type { CloudAuthority } from './cloud/authority.ts'
import { cloudTransport } from './cloud/transport.ts'
import { type Model, type ModelEvent, noUsage } from './model.ts'
import { type ModelSpec, refuseModel, type ModelWire, isWire } from './spec.ts'
import { callWire } from './wire/call.ts'
import { processFetch } from './wire/observed-fetch.ts'
import type { WireLibrary } from './wire/pi.ts'
import { loadLibrary } from './wire/pi.ts'
import { inputOf, limitsOf } from './wire/pi-model.ts'

type ModelOptions = {
  /** Needed for a model that a cloud serves. */
  authority?: CloudAuthority | undefined
  /** The name of a conversation for the provider, by the `cacheKey` of its calls. Default: the same. */
  nameConversation?: (cacheKey: string) => string
}

/**
 * Connects to nothing and loads nothing before its first call. For a spec that `refuseModel` refuses, every call fails
 * with that reason.
 */
export function openModel(
  spec: ModelSpec,
  { authority, nameConversation }: ModelOptions = {},
): Model {
  const { contextWindow, maxTokens } = limitsOf(spec.native_config)
  const { cloud } = spec
  if (cloud && !authority) throw new Error(`a model of ${cloud.type} needs an authority`)
  const transport =
    cloud && authority && cloudTransport({ ...spec, cloud }, authority, processFetch)
  const load = async (wire: ModelWire): Promise<WireLibrary> => ({
    ...(await library(wire)),
    ...(transport && { transport }),
  })
  return {
    origin: { provider: spec.provider, api: spec.api, model: spec.model },
    ...(cloud && { servedBy: cloud.type }),
    contextWindow,
    maxOutputTokens: maxTokens,
    input: inputOf(spec),
    stream(call) {
      const refused = refuseModel(spec)
      if (refused !== undefined || !isWire(spec.api)) return refusal(refused ?? '')
      const { cacheKey } = call
      const name = cacheKey !== undefined && nameConversation?.(cacheKey)
      return callWire(spec.api, spec, load, name ? { ...call, cacheKey: name } : call)
    },
  }
}

async function* refusal(message: string): AsyncGenerator<ModelEvent> {
  yield {
    type: 'failed',
    failure: { kind: 'request_failed', retryable: false, message },
    usage: noUsage,
  }
}

const library = runOnceEach(loadLibrary)

/** Loads the wires ahead of time, so that a first call need not wait for them. */
export async function preloadWires(which: readonly ModelWire[]): Promise<void> {
  await Promise.all(which.map(library))
}
