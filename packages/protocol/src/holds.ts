/** Legal holds: what must stay while they are in force. */
import { exampleIds } from './example-ids.ts'
import { z } from 'zod'
import { CreatedBy } from './created-by.ts'
import { CreatedAt, Id, Line, ListQuery, Timestamp, Flag } from './primitives.ts'

export const holdScopes = ['workspace', 'session', 'person'] as const

const Scope = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('workspace') }).describe('All that the workspace has.'),
  z
    .strictObject({ type: z.literal('session'), session_id: Id })
    .describe('One session, with its files and outputs.'),
  z
    .strictObject({ type: z.literal('person'), person_id: Id })
    .describe("The sessions that a person has made here, and the person's account."),
])
export type HoldScope = z.infer<typeof Scope>

export const HoldShown = z
  .object({
    id: z.string(),
    type: z.literal('hold'),
    scope: Scope,
    reason: z.string().describe('Why it was made.'),
    created_by: CreatedBy.describe('Who has made it.'),
    created_at: CreatedAt,
    released_by: CreatedBy.describe('Who has released it, or null.'),
    released_at: Timestamp.nullable().describe('When it was released. Null: it is in force.'),
  })
  .meta({
    id: 'Hold',
    description: 'What neither retention nor a caller removes while it is in force.',
  })
export type HoldShown = z.infer<typeof HoldShown>

export const HoldCreate = z
  .strictObject({
    scope: Scope,
    reason: Line.min(1).max(1000).describe('Why it is made, such as the number of the case.'),
  })
  .meta({
    id: 'HoldCreateParams',
    examples: [{ scope: { type: 'session', session_id: exampleIds.session }, reason: 'case 4711' }],
  })

export const HoldListQuery = ListQuery.extend({
  include_released: Flag.optional().describe('Released holds too.'),
})
