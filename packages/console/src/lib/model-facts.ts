/** What is known of a model, in words. */
import type { Model } from './api/types.ts'
import { formatPrice, formatTokens } from './format/numbers.ts'
import { words } from './words.ts'

/** Undefined where no price is known. */
export const priceOf = ({ list_price: price }: Model): string | undefined =>
  price ? words.model.price(formatPrice(price.input), formatPrice(price.output)) : undefined

/** What is not known is left out. */
export function factsOf(model: Model): string {
  const { max_input_tokens: context, max_tokens: output } = model
  const price = priceOf(model)
  return [
    context === null ? [] : words.model.context(formatTokens(context)),
    output === null ? [] : words.model.output(formatTokens(output)),
    price === undefined ? [] : words.model.ofMillion(price),
  ]
    .flat()
    .join(', ')
}
