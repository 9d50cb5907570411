/** What light pages of events say beside the events: what was cut, and what a step took. [events/light] */
import { z } from 'zod'
import { Timestamp, extension } from './primitives.ts'

const count = z.int()

export const CutShown = z
  .object({
    at: z.string().describe('Where in the event, as a JSON pointer: `/content/0/text`.'),
    bytes: count
      .optional()
      .describe('The whole text, as JSON writes it; of base64 the bytes that it stands for.'),
    tail: z.string().optional().describe('How the text ends.'),
    left_out: count.optional().describe('Of a list or an object: its last items, left out.'),
  })
  .meta({ id: 'EventCut', 'x-extension': true, description: 'A long part of an event, cut.' })
export type Cut = z.infer<typeof CutShown>

export const StepShown = z
  .object({
    type: z.enum(['model_request', 'compaction', 'outcome_evaluation', 'tool_call']),
    begun_by: z.string().describe('The id of the event with which the step began.'),
    begun_seq: count.describe('The `seq` of that event.'),
    tool: z.string().optional().describe('The tool that was called.'),
    started_at: Timestamp.describe('When it began; for a call that was asked about, to run.'),
    duration_ms: count.describe('Milliseconds from its beginning to its end.'),
    waited_ms: count.optional().describe('How long the call waited for a person before.'),
    is_error: z.boolean().describe('Whether it has failed.'),
    exit_code: count.optional().describe('Of a command of `bash` that has ended by itself.'),
    model: z.string().optional().describe('The model that was asked.'),
    list_cost: z
      .object({
        amount: z.string().describe('US cents as text, with up to four decimals.'),
        currency: z.literal('USD'),
      })
      .nullish()
      .describe('What the request cost. Null where its model has no price.'),
  })
  .meta({
    id: 'EventStep',
    'x-extension': true,
    description: 'The step that an event ends: a request to the model, or the call of a tool.',
  })
export type EventStep = z.infer<typeof StepShown>

/** Fields of events on light pages alone. */
export const lightFields = {
  cut: z
    .array(CutShown)
    .optional()
    .meta(extension('With `view=light`: the long parts of the event, which stand here cut.')),
  step: StepShown.optional().meta(
    extension('With `view=light`, in an event that ends a step: what the step took.'),
  ),
}

export const lightView = z
  .enum(['light'])
  .optional()
  .meta(
    extension(
      '`light`: long texts cut to their beginnings, no base64, and what each step took. Of pages alone.',
    ),
  )
