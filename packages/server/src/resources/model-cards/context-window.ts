/** The context window of a model, where a card or the catalog knows it. */
import { findModel } from '@steward/model/catalog.ts'
import { offlineModel } from '@steward/model/offline.ts'
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { Reads } from '../../ground/database/database.ts'
import { targetOfCard } from './target.ts'
import { modelCardStore } from './store.ts'

/** Tokens of one request at most. Null where that is not known. */
export async function contextWindow(
  db: Reads,
  tenant: string,
  ref: ModelRef,
): Promise<number | null> {
  const id = typeof ref === 'string' ? ref : ref.id
  const card = await modelCardStore(db).named(tenant, id)
  if (!card && id === 'offline') return offlineModel({ thinkMs: 0 }).contextWindow
  const target = card
    ? await targetOfCard({ ...card.card, model: card.model })
    : await findModel(id)
  if (!target || 'refused' in target) return card?.card.native_config?.contextWindow ?? null
  return target.native_config?.contextWindow ?? null
}
