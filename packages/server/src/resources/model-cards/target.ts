/** Where the model of a card is reached, and what is known of it. */
import type { ModelTarget } from '@steward/model/catalog.ts'
import { resolveModel } from '@steward/model/catalog.ts'
import { isCloud } from '@steward/model/cloud/access.ts'
import { resolveCloudModel } from '@steward/model/cloud/provider.ts'
import type { ModelCardCreate } from '@steward/protocol/model-cards.ts'
import { cloudOfCard } from './clouds.ts'

export type CardTarget = Pick<
  ModelCardCreate,
  'provider' | 'model' | 'base_url' | 'native_config' | 'cloud'
>

export async function targetOfCard({
  provider,
  model,
  base_url,
  native_config,
  cloud,
}: CardTarget): Promise<ModelTarget | { refused: string }> {
  const about = native_config ? { native_config } : {}
  if (!isCloud(provider))
    return resolveModel({ provider, model, ...(base_url ? { base_url } : {}), ...about })
  const found = cloudOfCard({ provider, cloud, base_url })
  return 'refused' in found ? found : resolveCloudModel(found, model, about.native_config)
}
