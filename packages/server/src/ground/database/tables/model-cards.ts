import type { NativeConfig } from '@steward/protocol/model-cards.ts'
import type { CardCredentials, CloudSettings } from '@steward/protocol/model-clouds.ts'
import { long, nullable, record, sealed, table, text } from '../table.ts'

/** The `card` of a row: everything that is neither an index nor a secret. */
export type CardFacts = {
  provider: string
  display_name: string | null
  base_url: string | null
  header_names: string[]
  native_config: NativeConfig | null
  /** Missing in rows of before. */
  cloud?: CloudSettings | null
  /** The kind of the sealed key; missing: a key, as it is sent. */
  credentials_type?: CardCredentials['type'] | null
}

export const modelCardTables = {
  model_cards: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'model card',
    columns: {
      tenant_id: text(),
      id: text(),
      model_id: text(),
      model: text(),
      card: long(record<CardFacts>()),
      sealed_key: long(sealed()),
      sealed_headers: nullable(long(sealed())),
      api_key_preview: text(),
      created_at: text(),
      updated_at: text(),
    },
  }),
}
