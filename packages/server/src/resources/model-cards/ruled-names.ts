/** The names under which allow-lists have a model. */
import type { RuledNames } from '../../ground/core/rules/rules.ts'
import type { CardTarget } from './target.ts'
import { targetOfCard } from './target.ts'

type ReachedAt = { provider: string; model: string; base_url: string }

/**
 * Its name at its provider, behind the provider's or alone. Attack: a card that leads to another endpoint would take
 * the name of a model that is allowed. So a model of such a card has its name behind the host of the endpoint alone.
 */
export function namesOfModel(
  { provider, model, base_url }: ReachedAt,
  isOwnEndpoint: boolean,
): RuledNames {
  return isOwnEndpoint
    ? [`${URL.parse(base_url)?.host ?? ''}/${model}`]
    : [`${provider}/${model}`, model]
}

export const namesOfOffline: RuledNames = ['offline']

/** Undefined for a card whose model cannot be reached, which is refused elsewhere. */
export async function namesOfCard(card: CardTarget): Promise<RuledNames | undefined> {
  const target = await targetOfCard(card)
  return 'refused' in target ? undefined : namesOfModel(target, Boolean(card.base_url))
}
