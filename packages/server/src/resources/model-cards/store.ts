import type { ModelCard } from '@steward/protocol/model-cards.ts'
import { z } from 'zod'
import { conflict, recordText } from '../../ground/core/errors.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows, rowsBy } from '../../ground/database/rows.ts'
import type { SlotFor } from '../../ground/database/statement.ts'

export type CardRow = RowOf<'model_cards'>

/** The context that a card's secrets are sealed for. */
export const keyContext = (tenant: string, id: string): string =>
  `${tenant}/model_cards/${id}/sealed_key`
export const headersContext = (tenant: string, id: string): string =>
  `${tenant}/model_cards/${id}/sealed_headers`

/** SECRET: never logged */
const Headers = z.record(z.string(), z.string())

export function openHeaders(
  { tenant_id, id, sealed_headers }: CardRow,
  seal: Pick<Seal, 'open'>,
): Record<string, string> | undefined {
  if (!sealed_headers) return undefined
  return Headers.parse(JSON.parse(seal.open(sealed_headers, headersContext(tenant_id, id))))
}

const cardsNamed = rowsBy('model_cards', (query, slot: SlotFor<string>) => {
  const name = slot((given) => given)
  return query
    .where((eb) => eb.or([eb('model_id', '=', name), eb('model', '=', name)]))
    .orderBy('created_at')
})

function cardReads(db: Reads) {
  return {
    /** Finds a card by the name in an agent's model: handles first, then wire names. */
    async named(tenant: string, name: string): Promise<CardRow | undefined> {
      const found = await cardsNamed(db, tenant, name)
      return found.find((each) => each.model_id === name) ?? found[0]
    },

    /** The names among `names` that are handles of cards. */
    async handles(tenant: string, names: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await db
        .selectFrom('model_cards')
        .select('model_id')
        .where('tenant_id', '=', tenant)
        .where('model_id', 'in', names)
        .execute()
      return new Set(found.map(({ model_id }) => model_id))
    },

    /** True when no workspace has a card. */
    async isEmpty(): Promise<boolean> {
      const some = db.selectFrom('model_cards').select('id').limit(1)
      return (await some.executeTakeFirst()) === undefined
    },
  }
}

function cardWrites(db: Queries) {
  return {
    /** Throws 409 when the handle is taken in the workspace. */
    async insert(card: CardRow): Promise<void> {
      const taken = await db
        .selectFrom('model_cards')
        .select('id')
        .where('tenant_id', '=', card.tenant_id)
        .where('model_id', '=', card.model_id)
        .executeTakeFirst()
      if (taken)
        throw conflict(`model_id: a card named ${card.model_id} exists already (${taken.id})`)
      await rows(db, 'model_cards').insert(card)
    },

    /** Writes the card unless it was changed or deleted since `kept` was read. Returns whether it was written. */
    async replace(kept: CardRow, card: CardRow): Promise<boolean> {
      const { tenant_id, id, ...columns } = card
      const { numUpdatedRows } = await db
        .updateTable('model_cards')
        .set({ ...columns, card: recordText('model card', columns.card) })
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        // Each write seals with a new nonce, so the sealed key differs after every write.
        .where('sealed_key', '=', kept.sealed_key)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    async remove(tenant: string, id: string): Promise<void> {
      await rows(db, 'model_cards').get(tenant, id)
      await rows(db, 'model_cards').remove(tenant, id)
    },
  }
}

/** Model cards. The key is sealed and shown as a preview. */
export const modelCardStore = defineStore(cardReads, cardWrites)

export function showCard(row: CardRow): ModelCard {
  const { header_names, cloud = null, credentials_type = null, ...facts } = row.card
  return {
    id: row.id,
    type: 'model_card',
    model_id: row.model_id,
    model: row.model,
    ...facts,
    cloud,
    credentials_type,
    custom_headers: header_names,
    api_key_preview: row.api_key_preview,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
