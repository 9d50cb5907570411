/** The names under which allow-lists have a model. */
import type { ModelSpec } from '@steward/model/spec.ts'
import type { RuledNames } from '../../ground/core/rules/rules.ts'
import type { CardTarget } from './target.ts'
import { targetOfCard } from './target.ts'

type ReachedAt = Pick<ModelSpec, 'provider' | 'model' | 'base_url' | 'cloud'>

/**
 * Its name at its provider, behind the provider's or alone. Attack: a card that leads to another endpoint would take
 * the name of a model that is allowed. So a model of such a card has its name behind the host of the endpoint alone. In
 * a cloud it is the cloud's own id that counts, to which a card may lead any other name.
 */
export function namesOfModel(
  { provider, model, base_url, cloud }: ReachedAt,
  isOwnEndpoint: boolean,
): RuledNames {
  const named = cloud?.model ?? model
  return isOwnEndpoint
    ? [`${URL.parse(base_url)?.host ?? ''}/${named}`]
    : [`${cloud?.type ?? provider}/${named}`, named]
}

/** The operator's settings lead from the name that an agent uses to the model: both names count. */
export function namesOfOperatorModel(spec: ReachedAt, id: string): RuledNames {
  const [name, ...others] = namesOfModel(spec, false)
  return [name, ...others.filter((other) => other !== id), id]
}

export const namesOfOffline: RuledNames = ['offline']

/** Undefined for a card whose model cannot be reached, which is refused elsewhere. */
export async function namesOfCard(card: CardTarget): Promise<RuledNames | undefined> {
  const target = await targetOfCard(card)
  return 'refused' in target ? undefined : namesOfModel(target, Boolean(card.base_url))
}
