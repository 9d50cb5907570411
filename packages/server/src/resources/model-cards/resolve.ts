/** Resolves an agent's model to a model that can be called: by a card, by an operator's key, or offline. */
import type { Effort, Model, Speed } from '@steward/model/model.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { observedModel } from '@steward/model/observed-model.ts'
import { offlineModel } from '@steward/model/offline.ts'
import type { ModelFacts, ModelSpec } from '@steward/model/spec.ts'
import { refuseModel } from '@steward/model/spec.ts'
import { openModel } from '@steward/model/wire.ts'
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { RuledNames } from '../../ground/core/rules/rules.ts'
import type { Namer } from '../../ground/core/security/dial.ts'
import { asOperator } from '../../ground/core/security/dial.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Ground } from '../../ground/ground.ts'
import type { IdentityWorkspaces } from './clouds.ts'
import { accessWith, refuseIdentity, requestAuthority } from './clouds.ts'
import type { NameConversation } from './conversation-names.ts'
import type { OperatorModels } from './fallback.ts'
import { fallbackSpec } from './fallback.ts'
import type { CardRow } from './store.ts'
import { modelCardStore, openHeaders } from './store.ts'
import { findPrice, priceOfOffline } from './prices.ts'
import { namesOfModel, namesOfOffline, namesOfOperatorModel } from './ruled-names.ts'
import { targetOfCard } from './target.ts'
import type { CloudRights } from './write.ts'
import { openSecret } from './write.ts'

export type ModelResolution =
  | { ok: true; model: Model; price: Price | null; names: RuledNames }
  | { ok: false; message: string }
export type ResolveModel = (tenant: string, ref: ModelRef) => Promise<ModelResolution>

/** Everything needed to reach a model, with its key. Undefined for the offline model. */
export type SpecOfModel = (
  tenant: string,
  ref: ModelRef,
) => Promise<ReachedModel | { refused: string }>

/** `named`: who named the endpoint, tenant or operator. */
export type ReachedModel = ModelSpec & { named: Namer; names: RuledNames }

const mostOpened = 1_000

type ModelResolverDeps = Ground &
  OperatorModels &
  CloudRights & {
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
  names: RuledNames
  /** `sampling`: fields of the request's body on wires of OpenAI's dialects. */
  open(asked: { effort?: Effort | undefined; sampling?: Record<string, unknown> }): Model
}
export type ReachModel = (tenant: string, id: string) => Promise<ModelReach | { refused: string }>

const patienceOf = (deps: Pick<ModelResolverDeps, 'modelSilenceMs' | 'modelAnswerMs'>) => ({
  idleTimeoutMs: deps.modelSilenceMs,
  answerTimeoutMs: deps.modelAnswerMs,
})

type ModelControls = { effort?: Effort; speed?: Speed }

export function modelResolver(deps: ModelResolverDeps): ResolveModel {
  const { databases, seal, cloudIdentityWorkspaces } = deps
  const { open, known } = opener(patienceOf(deps), deps)
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
      const spec = await cardSpec(card, seal, cloudIdentityWorkspaces)
      if ('refused' in spec) return { ok: false, message: `model card ${id}: ${spec.refused}` }
      return open(name, { ...spec, ...controls }, card.card.native_config?.cost)
    }
    if (id === 'offline' && deps.offlineModel)
      return offline(model, controls, priceOfOffline(deps.prices))
    const spec = await operatorSpec(deps, id)
    if ('refused' in spec) return { ok: false, message: spec.refused }
    return open(id, { ...spec, ...controls })
  }
}

export function specOfModel({
  databases,
  seal,
  cloudIdentityWorkspaces,
  ...operator
}: Ground & OperatorModels & CloudRights): SpecOfModel {
  return async (tenant, ref) => {
    const id = typeof ref === 'string' ? ref : ref.id
    const { read } = await databases.open(tenant)
    const card = await modelCardStore(read).named(tenant, id)
    if (card) return cardSpec(card, seal, cloudIdentityWorkspaces)
    return id === 'offline'
      ? { refused: 'the offline model is reached by nobody but the service itself' }
      : operatorSpec(operator, id)
  }
}

export function modelReach(deps: ModelResolverDeps): ReachModel {
  const { databases, seal, cloudIdentityWorkspaces, prices } = deps
  const patience = patienceOf(deps)
  return async (tenant, id) => {
    const { read } = await databases.open(tenant)
    const card = await modelCardStore(read).named(tenant, id)
    if (!card && id === 'offline' && deps.offlineModel)
      return {
        price: priceOfOffline(prices),
        names: namesOfOffline,
        open: () => observedModel(offlineModel({ thinkMs: deps.offlineThinkMs })),
      }
    const spec = card
      ? await cardSpec(card, seal, cloudIdentityWorkspaces)
      : await operatorSpec(deps, id)
    if ('refused' in spec) return { refused: spec.refused }
    const refused = refuseModel(spec)
    if (refused !== undefined) return { refused }
    return {
      spec,
      names: spec.names,
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

function openReached(
  { named, ...spec }: Omit<ReachedModel, 'names'>,
  nameConversation: NameConversation,
): Model {
  const options = { nameConversation, authority: requestAuthority }
  const opening = observedModel(openModel(spec, options))
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
    : { ok: true, model, price, names: namesOfOffline }

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
    { named, names, ...spec }: ReachedModel & ModelControls,
    cost?: ModelFacts['cost'],
  ): ModelResolution {
    const refused = refuseModel(spec)
    if (refused) return { ok: false, message: refused }
    const before = known(name, spec)
    if (before) return before
    if (opened.size >= mostOpened) opened.clear()
    const model = openReached({ ...spec, ...patience, named }, nameConversation)
    const resolved = { ok: true as const, model, price: findPrice(spec, cost, prices), names }
    opened.set(keyOf(name, spec), resolved)
    return resolved
  }

  return { open, known }
}

/** The operator has chosen the endpoints of its own keys. */
async function operatorSpec(
  operator: OperatorModels,
  id: string,
): Promise<ReachedModel | { refused: string }> {
  const spec = await fallbackSpec(operator, id)
  return 'refused' in spec ? spec : { ...spec, names: namesOfOperatorModel(spec, id) }
}

async function cardSpec(
  row: CardRow,
  seal: Seal,
  allowed: IdentityWorkspaces,
): Promise<ReachedModel | { refused: string }> {
  const { tenant_id: tenant, card } = row
  const refused = refuseIdentity(card.credentials_type, tenant, allowed)
  if (refused !== undefined) return { refused }
  const target = await targetOfCard({ ...card, model: row.model })
  if ('refused' in target) return target
  const { api_key, credentials } = openSecret(row, seal)
  const { cloud } = target
  const headers = openHeaders(row, seal)
  return {
    ...target,
    api_key,
    named: 'tenant',
    names: namesOfModel(target, Boolean(card.base_url)),
    ...(cloud && { cloud: accessWith(cloud, credentials, tenant) }),
    ...(headers && { headers }),
  }
}
