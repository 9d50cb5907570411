/** An agent's model to one that can be called: a card, an operator's key, or the offline model. */
import { findModel, resolveModel as targetOf } from '@steward/model/catalog.ts'
import type { Effort, Model, Speed } from '@steward/model/model.ts'
import { offlineModel } from '@steward/model/offline.ts'
import type { ModelSpec } from '@steward/model/spec.ts'
import { refuseModel } from '@steward/model/spec.ts'
import { openModel } from '@steward/model/wire.ts'
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { Seal } from '../core/seal.ts'
import type { Databases } from '../database/database.ts'
import type { CardRow } from './store.ts'
import { factsOf, headersPlace, keyPlace, modelCardStore } from './store.ts'

export type FallbackKey = { apiKey: string; baseUrl: string | undefined }
export type FallbackKeys = Record<'anthropic' | 'openai' | 'google', FallbackKey | undefined>

export type Resolved = { ok: true; model: Model } | { ok: false; message: string }
export type ResolveModel = (tenant: string, ref: ModelRef) => Promise<Resolved>

/** A model that says nothing for so long is taken for gone. */
const idleTimeoutMs = 300_000
const mostOpened = 1_000

type Deps = { databases: Databases; seal: Seal; fallbackKeys: FallbackKeys; offlineModel: boolean }
type Controls = { effort?: Effort; speed?: Speed }

export function modelResolver({
  databases,
  seal,
  fallbackKeys,
  offlineModel: hasOffline,
}: Deps): ResolveModel {
  /** By everything a model is opened from: a rotated key is another entry. */
  const opened = new Map<string, Model>()

  function open(name: string, spec: ModelSpec): Resolved {
    const refused = refuseModel(spec)
    if (refused) return { ok: false, message: refused }
    const known = opened.get(name)
    if (known) return { ok: true, model: known }
    if (opened.size >= mostOpened) opened.clear()
    const model = openModel({ ...spec, idleTimeoutMs })
    opened.set(name, model)
    return { ok: true, model }
  }

  async function byCard(row: CardRow, controls: Controls): Promise<Resolved> {
    const { provider, base_url, native_config } = factsOf(row)
    const target = await targetOf({
      provider,
      model: row.model,
      ...(base_url ? { base_url } : {}),
      ...(native_config ? { native_config } : {}),
    })
    if ('refused' in target)
      return { ok: false, message: `model card ${row.model_id}: ${target.refused}` }
    const headers = row.sealed_headers
      ? (JSON.parse(seal.open(row.sealed_headers, headersPlace(row.tenant_id, row.id))) as Record<
          string,
          string
        >)
      : {}
    const api_key = seal.open(row.sealed_key, keyPlace(row.tenant_id, row.id))
    const name = [row.id, row.sealed_key, row.card, JSON.stringify(controls)].join(' ')
    return open(name, { ...target, ...controls, api_key, headers })
  }

  async function byFallback(id: string, controls: Controls): Promise<Resolved> {
    const found = await findModel(id)
    const provider = found?.provider
    const key =
      provider === 'anthropic' || provider === 'openai' || provider === 'google'
        ? fallbackKeys[provider]
        : undefined
    if (found && key) {
      const base_url = key.baseUrl ?? found.base_url
      return open(`${id} ${JSON.stringify(controls)}`, {
        ...found,
        base_url,
        ...controls,
        api_key: key.apiKey,
      })
    }
    const { openai } = fallbackKeys
    if (openai?.baseUrl) {
      const target = await targetOf({
        provider: 'oai-compatible',
        model: id,
        base_url: openai.baseUrl,
      })
      if ('refused' in target) return { ok: false, message: target.refused }
      return open(`${id} ${JSON.stringify(controls)}`, {
        ...target,
        ...controls,
        api_key: openai.apiKey,
      })
    }
    return {
      ok: false,
      message: `no model card is named ${id}, and no key of the operator serves it: create one at /v1/ext/model_cards`,
    }
  }

  return async (tenant, ref) => {
    const id = typeof ref === 'string' ? ref : ref.id
    const controls: Controls = {}
    if (typeof ref !== 'string' && ref.effort) controls.effort = ref.effort.type
    if (typeof ref !== 'string' && ref.speed === 'fast') controls.speed = ref.speed
    const card = await modelCardStore(databases.of(tenant).read).named(tenant, id)
    if (card) return byCard(card, controls)
    if (id === 'offline' && hasOffline) {
      return controls.speed
        ? { ok: false, message: 'speed: fast is not supported by the offline model' }
        : { ok: true, model: offlineModel() }
    }
    return byFallback(id, controls)
  }
}
