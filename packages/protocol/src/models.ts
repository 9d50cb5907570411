import { z } from 'zod'
import { ListQuery, TextList } from './primitives.ts'

/** The official Model resource. [models/list] */
export const ModelInfo = z
  .looseObject({
    id: z.string(),
    type: z.literal('model'),
    display_name: z.string(),
    created_at: z.string(),
    lifecycle: z.enum(['active', 'deprecated', 'retired']),
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
    capabilities: z.looseObject({}).nullable(),
  })
  .meta({ id: 'ModelInfo', description: 'A model that the workspace can run.' })
export type ModelInfo = z.infer<typeof ModelInfo>

export const ModelListQuery = ListQuery.extend({
  lifecycle: TextList.optional().describe('`active`, `deprecated` or `retired`.'),
})

/** `api_key` asks two legacy families for their live list; deprecated. */
export const CatalogRequest = z
  .strictObject({
    provider: z.string().min(1),
    api_key: z
      .string()
      .min(1)
      .optional()
      .meta({ deprecated: true, description: 'Asks a few providers for their live list.' }),
  })
  .meta({ id: 'ModelCatalogParams', examples: [{ provider: 'anthropic' }] })
export const CatalogShown = z
  .object({
    provider: z.string(),
    data: z.array(z.looseObject({ id: z.string() })),
  })
  .meta({ id: 'ModelCatalog', description: 'The models of a provider that the service knows.' })
