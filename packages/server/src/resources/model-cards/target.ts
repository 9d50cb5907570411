/** Where the model of a card is reached, and what is known of it. */
import type { ModelTarget } from '@steward/model/catalog.ts'
import { resolveModel } from '@steward/model/catalog.ts'
import type { ModelCardCreate } from '@steward/protocol/model-cards.ts'

export type CardTarget = Pick<ModelCardCreate, 'provider' | 'model' | 'base_url' | 'native_config'>

export const targetOfCard = ({
  provider,
  model,
  base_url,
  native_config,
}: CardTarget): Promise<ModelTarget | { refused: string }> =>
  resolveModel({
    provider,
    model,
    ...(base_url ? { base_url } : {}),
    ...(native_config ? { native_config } : {}),
  })
