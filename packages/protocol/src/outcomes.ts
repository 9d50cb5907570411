/** Outcomes: work that is judged against a rubric until it is good. */
import { z } from 'zod'
import { Id, Timestamp } from './primitives.ts'

/** Characters of a rubric, from a text or a file. */
export const mostRubric = 262_144
export const usualIterations = 3

export const DefineOutcome = z
  .strictObject({
    type: z.literal('user.define_outcome'),
    description: z.string().trim().min(1).max(10_000).describe('What the agent works towards.'),
    rubric: z
      .discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('text'),
          content: z
            .string()
            .min(1)
            .max(mostRubric)
            .describe('The rubric as text, at most 262,144 characters.'),
        }),
        z.strictObject({
          type: z.literal('file'),
          file_id: Id.describe('A text file of the workspace. Its text is kept with the outcome.'),
        }),
      ])
      .describe('The criteria by which the work is judged.'),
    max_iterations: z
      .int()
      .min(1)
      .max(20)
      .nullish()
      .describe(`Evaluations at most; ${usualIterations} when absent.`),
  })
  .meta({
    id: 'UserDefineOutcomeEventParams',
    description: 'Begins work towards an outcome, which is judged against the rubric.',
  })
export type DefineOutcome = z.infer<typeof DefineOutcome>

/** Results that end an outcome. */
export const finalResults = [
  'satisfied',
  'max_iterations_reached',
  'failed',
  'interrupted',
] as const
export type FinalResult = (typeof finalResults)[number]

/** The result of one evaluation. */
export type EvaluationResult = FinalResult | 'needs_revision'

/** `pending`: no work has begun. `running`: the agent works, or revises. `evaluating`: the work is being judged. */
export const outcomeResults = ['pending', 'running', 'evaluating', ...finalResults] as const
export type OutcomeResult = (typeof outcomeResults)[number]

export const OutcomeEvaluationShown = z
  .object({
    type: z.literal('outcome_evaluation'),
    outcome_id: z.string().describe('The id of the outcome.'),
    description: z.string(),
    iteration: z.int().describe('Counts evaluations from 0.'),
    result: z
      .enum(outcomeResults)
      .describe(
        '`pending`: no work has begun. `running`: the agent works or revises. `evaluating`: the work is judged. The others end the outcome.',
      ),
    explanation: z.string().nullable().describe('Of the newest evaluation that ended.'),
    completed_at: Timestamp.nullable().describe('When the outcome ended, or null.'),
  })
  .meta({ id: 'OutcomeEvaluation', description: 'Where the work towards an outcome stands.' })
export type OutcomeEvaluation = z.infer<typeof OutcomeEvaluationShown>
