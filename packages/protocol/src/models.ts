import { z } from 'zod'
import { ListBesideQuery, TextList, extension } from './primitives.ts'

const price = z.number().describe('US dollars for a million tokens.')
const ListPrice = z
  .object({ input: price, output: price, cache_read: price, cache_write: price })
  .nullable()
  .meta(
    extension('What usage, budgets and spend limits count with, or null where no price is known.'),
  )

/** The official Model resource. [models/list] */
export const ModelInfo = z
  .looseObject({
    id: z.string(),
    type: z.literal('model'),
    display_name: z.string().describe('What people call the model.'),
    created_at: z.string(),
    lifecycle: z
      .enum(['active', 'deprecated', 'retired'])
      .describe('Whether the provider still offers the model.'),
    max_input_tokens: z
      .int()
      .nullable()
      .describe('Tokens of one request at most, or null where that is not known.'),
    max_tokens: z
      .int()
      .nullable()
      .describe('Tokens of one answer at most, or null where that is not known.'),
    list_price: ListPrice,
    capabilities: z.looseObject({}).nullable().describe('What the model is known to do, or null.'),
  })
  .meta({ id: 'ModelInfo', description: 'A model that the workspace can run.' })
export type ModelInfo = z.infer<typeof ModelInfo>

export const ModelListQuery = ListBesideQuery.extend({
  lifecycle: TextList.optional().describe('`active`, `deprecated` or `retired`.'),
})

/** `api_key`: asks the providers of two legacy families for their models; deprecated. */
export const CatalogRequest = z
  .strictObject({
    provider: z.string().min(1).describe('The name of the provider, such as `anthropic`.'),
    api_key: z
      .string()
      .min(1)
      .optional()
      .meta({ deprecated: true, description: 'Asks a few providers for their live list.' }),
  })
  .meta({ id: 'ModelCatalogParams', examples: [{ provider: 'anthropic' }] })
export const CatalogShown = z
  .object({
    provider: z.string().describe('The provider that was asked for.'),
    data: z.array(z.looseObject({ id: z.string() })),
  })
  .meta({ id: 'ModelCatalog', description: 'The models of a provider that the service knows.' })
