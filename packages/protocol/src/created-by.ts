/** Who or what has made a thing. */
import { z } from 'zod'

export const CreatedBy = z
  .object({
    type: z
      .string()
      .describe('`api_key`, `user`, `deployment`, `eval_run` and others, as the audit has them.'),
    id: z.string().nullable(),
    name: z.string().nullable().describe('The name at that time.'),
  })
  .nullable()
export type CreatedBy = z.infer<typeof CreatedBy>
