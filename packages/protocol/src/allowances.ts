/** Tools that run in one session without asking, although its agent asks first. */
import { z } from 'zod'
import { CreatedAt } from './primitives.ts'

export const AllowanceCreate = z
  .strictObject({
    tool: z
      .string()
      .min(1)
      .max(256)
      .describe('The name of the tool, as its calls have it in `name`.'),
  })
  .meta({ id: 'AllowanceCreateParams', examples: [{ tool: 'bash' }] })

export const AllowanceShown = z
  .object({
    type: z.literal('allowance'),
    tool: z.string().describe('Its calls run without asking from the next turn on.'),
    created_by: z
      .object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })
      .nullable()
      .describe('Who has allowed it.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'Allowance', description: 'A tool that one session uses without asking.' })
export type Allowance = z.infer<typeof AllowanceShown>
