/** Resolves an agent's model to a model that can be called: by a card, by an operator's key, or offline. */
import type { Effort, Model, Speed } from '@steward/model/model.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { observedModel } from '@steward/model/observed-model.ts'
import { offlineModel } from '@steward/model/offline.ts'
import type { ModelFacts, ModelSpec } from '@steward/model/spec.ts'
import { refuseModel } from '@steward/model/spec.ts'
import { openModel } from '@steward/model/wire.ts'
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { Namer } from '../../ground/core/security/dial.ts'
import { asOperator } from '../../ground/core/security/dial.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Ground } from '../../ground/ground.ts'
import type { NameConversation } from './conversation-names.ts'
import type { FallbackKeys } from './fallback.ts'
import { fallbackSpec } from './fallback.ts'
import type { CardRow } from './store.ts'
import { keyContext, modelCardStore, openHeaders } from './store.ts'
import { findPrice, priceOfOffline } from './prices.ts'
import { targetOfCard } from './target.ts'

export type ModelResolution =
  | { ok: true; model: Model; price: Price | null }
  | { ok: false; message: string }
export type ResolveModel = (tenant: string, ref: ModelRef) => Promise<ModelResolution>

/** Everything needed to reach a model, with its key. Undefined for the offline model. */
export type SpecOfModel = (
  tenant: string,
  ref: ModelRef,
) => Promise<ReachedModel | { refused: string }>

/** `named`: who named the endpoint, tenant or operator. */
export type ReachedModel = ModelSpec & { named: Namer }

const mostOpened = 1_000

type ModelResolverDeps = Ground & {
  fallbackKeys: FallbackKeys
  offlineModel: boolean
  offlineThinkMs: number
  modelAnswerMs: number
  /** A model that is silent for this time counts as unreachable. */
  modelSilenceMs: number
  prices: PriceTable
  nameConversation: NameConversation
}
/** A model for requests that choose more than an agent does. `spec` is absent for the offline model. */
export type ModelReach = {
  spec?: ReachedModel
  price: Price | null
  /** `sampling`: fields of the request's body on wires of OpenAI's dialects. */
  open(asked: { effort?: Effort | undefined; sampling?: Record<string, unknown> }): Model
}
export type ReachModel = (tenant: string, id: string) => Promise<ModelReach | { refused: string }>

type ModelControls = { effort?: Effort; speed?: Speed }

export function modelResolver(deps: ModelResolverDeps): ResolveModel {
  const { databases, seal, fallbackKeys } = deps
  const patience = {
    idleTimeoutMs: deps.modelSilenceMs,
    answerTimeoutMs: deps.modelAnswerMs,
  }
  const { open, known } = opener(patience, deps)
  const model = observedModel(offlineModel({ thinkMs: deps.offlineThinkMs }))

  return async (tenant, ref) => {
    const id = typeof ref === 'string' ? ref : ref.id
    const controls = controlsOf(ref)
    const { read } = await databases.open(tenant)
    const card = await modelCardStore(read).named(tenant, id)
    if (card) {
      // Every change of a card seals its key again, which changes this name.
      const name = [card.id, card.sealed_key].join(' ')
      const opened = known(name, controls)
      if (opened) return opened
      const spec = await cardSpec(card, seal)
      if ('refused' in spec) return { ok: false, message: `model card ${id}: ${spec.refused}` }
      return open(name, { ...spec, ...controls }, card.card.native_config?.cost)
    }
    if (id === 'offline' && deps.offlineModel)
      return offline(model, controls, priceOfOffline(deps.prices))
    const spec = await fallbackSpec(fallbackKeys, id)
    if ('refused' in spec) return { ok: false, message: spec.refused }
    return open(id, { ...spec, ...controls })
  }
}

export function specOfModel({
  databases,
  seal,
  fallbackKeys,
}: Ground & { fallbackKeys: FallbackKeys }): SpecOfModel {
  return async (tenant, ref) => {
    const id = typeof ref === 'string' ? ref : ref.id
    const { read } = await databases.open(tenant)
    const card = await modelCardStore(read).named(tenant, id)
    if (card) return cardSpec(card, seal)
    return id === 'offline'
      ? { refused: 'the offline model is reached by nobody but the service itself' }
      : fallbackSpec(fallbackKeys, id)
  }
}

export function modelReach(deps: ModelResolverDeps): ReachModel {
  const { databases, seal, fallbackKeys, prices } = deps
  const patience = { idleTimeoutMs: deps.modelSilenceMs, answerTimeoutMs: deps.modelAnswerMs }
  return async (tenant, id) => {
    const { read } = await databases.open(tenant)
    const card = await modelCardStore(read).named(tenant, id)
    if (!card && id === 'offline' && deps.offlineModel)
      return {
        price: priceOfOffline(prices),
        open: () => observedModel(offlineModel({ thinkMs: deps.offlineThinkMs })),
      }
    const spec = card ? await cardSpec(card, seal) : await fallbackSpec(fallbackKeys, id)
    if ('refused' in spec) return { refused: spec.refused }
    const refused = refuseModel(spec)
    if (refused !== undefined) return { refused }
    return {
      spec,
      price: findPrice(spec, card?.card.native_config?.cost, prices),
      open({ effort, sampling }) {
        const samplingParams = { ...spec.native_config?.samplingParams, ...sampling }
        const native_config = { ...spec.native_config, samplingParams }
        const asked = { ...spec, ...patience, native_config, ...(effort && { effort }) }
        return openReached(asked, deps.nameConversation)
      },
    }
  }
}

function openReached({ named, ...spec }: ReachedModel, nameConversation: NameConversation): Model {
  const opening = observedModel(openModel(spec, { nameConversation }))
  return named === 'operator' ? dialledAsOperator(opening) : opening
}

function controlsOf(ref: ModelRef): ModelControls {
  if (typeof ref === 'string') return {}
  return {
    ...(ref.effort ? { effort: ref.effort.type } : {}),
    ...(ref.speed === 'fast' ? { speed: ref.speed } : {}),
  }
}

const offline = (model: Model, { speed }: ModelControls, price: Price | null): ModelResolution =>
  speed
    ? { ok: false, message: 'speed: fast is not supported by the offline model' }
    : { ok: true, model, price }

/** Dials as the operator, for endpoints in the operator's settings. The endpoint of a card is never dialled so. */
const dialledAsOperator = (model: Model): Model => ({
  ...model,
  stream(call) {
    const events = model.stream(call)[Symbol.asyncIterator]()
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => asOperator(() => events.next()),
        return: () => asOperator(async () => (await events.return?.()) ?? ended),
      }),
    }
  },
})
const ended = { done: true, value: undefined } as const

/** Caches open models by everything that they were opened from. A new key is a new model. */
function opener(
  patience: Pick<ModelSpec, 'idleTimeoutMs' | 'answerTimeoutMs'>,
  { prices, nameConversation }: Pick<ModelResolverDeps, 'prices' | 'nameConversation'>,
) {
  const opened = new Map<string, ModelResolution>()
  const keyOf = (name: string, { effort, speed }: ModelControls) => `${name} ${effort} ${speed}`

  const known = (name: string, controls: ModelControls): ModelResolution | undefined =>
    opened.get(keyOf(name, controls))

  function open(
    name: string,
    { named, ...spec }: ReachedModel & ModelControls,
    cost?: ModelFacts['cost'],
  ): ModelResolution {
    const refused = refuseModel(spec)
    if (refused) return { ok: false, message: refused }
    const before = known(name, spec)
    if (before) return before
    if (opened.size >= mostOpened) opened.clear()
    const model = openReached({ ...spec, ...patience, named }, nameConversation)
    const resolved = { ok: true as const, model, price: findPrice(spec, cost, prices) }
    opened.set(keyOf(name, spec), resolved)
    return resolved
  }

  return { open, known }
}

async function cardSpec(row: CardRow, seal: Seal): Promise<ReachedModel | { refused: string }> {
  const target = await targetOfCard({ ...row.card, model: row.model })
  if ('refused' in target) return target
  const api_key = seal.open(row.sealed_key, keyContext(row.tenant_id, row.id))
  const reached = { ...target, api_key, named: 'tenant' } as const
  const headers = openHeaders(row, seal)
  return headers ? { ...reached, headers } : reached
}
