import { z } from 'zod'

/** Whole cents. Eleven digits stay exact in every unit that the service counts money in. */
const cents = z
  .string()
  .regex(
    /^[1-9]\d{0,10}$/,
    'must be a whole number of cents as text, above 0 and of at most 11 digits',
  )

export const SessionBudget = z
  .strictObject({
    type: z.literal('limit'),
    max_list_cost: z
      .strictObject({
        amount: cents.describe('US cents, as text.'),
        currency: z.literal('USD'),
      })
      .describe('Most that the session may cost, at list prices.'),
  })
  .meta({ id: 'SessionBudget', description: 'A limit for what a session costs at list prices.' })
export type SessionBudget = z.infer<typeof SessionBudget>
