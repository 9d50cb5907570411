/** Filters of a list that a person has given a name. */
import { z } from 'zod'
import { CreatedAt, Line, Timestamp } from './primitives.ts'

/** Views of one person, or of the keys, in a workspace. */
export const mostViews = 50

const noun = z.enum(['sessions']).describe('The list that it filters.')

export const ViewCreate = z
  .strictObject({
    name: Line.min(1).max(80).describe('What it is called. One of this name is replaced.'),
    noun,
    filters: z
      .string()
      .max(2_000)
      .describe('The filters as one text, such as a query. The service does not read them.'),
  })
  .meta({
    id: 'ViewCreateParams',
    examples: [{ name: 'Waiting for me', noun: 'sessions', filters: 'waiting_on=person' }],
  })
export type ViewCreate = z.infer<typeof ViewCreate>

export const ViewShown = z
  .object({
    id: z.string(),
    type: z.literal('view'),
    name: z.string().describe('What it is called.'),
    noun,
    filters: z.string().describe('The filters, as they were sent.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'View', description: 'Filters of a list under a name.' })
export type ViewShown = z.infer<typeof ViewShown>

export const Looked = z
  .object({
    type: z.literal('looked'),
    last_looked_at: Timestamp.describe('Now.'),
    before: Timestamp.nullable().describe('When the person had looked before. Null: never.'),
  })
  .meta({ id: 'Looked', description: 'When a person has last looked at the workspace.' })
