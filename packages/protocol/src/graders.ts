/** Graders: how a trial is scored. */
import { z } from 'zod'
import { mostRubric } from './outcomes.ts'
import { Id, Line } from './primitives.ts'

const name = Line.min(1).max(128).describe('Names its score; unique for a sample.')

const Text = z
  .strictObject({
    name,
    type: z.literal('text'),
    op: z
      .enum(['equals', 'includes', 'regex', 'json_path'])
      .describe('How the answer is compared with the value.'),
    path: Line.max(1024)
      .nullish()
      .describe('With `json_path`: a JSON pointer into the JSON of the answer, as `/total`.'),
    value: z.string().max(65_536).nullish().describe('When absent: `expected` of the sample.'),
    ignore_case: z.boolean().default(false).describe('Whether upper and lower case are the same.'),
  })
  .meta({ id: 'EvalTextGrader', description: 'Looks at the last message of the agent.' })
export type TextGrader = z.infer<typeof Text>

const Events = z
  .strictObject({
    name,
    type: z.literal('events'),
    expect: z
      .array(
        z.strictObject({
          type: Line.min(1).max(128).describe('The type of an event.'),
          name: Line.min(1).max(256).nullish().describe('The name of its tool.'),
          min: z.int().min(0).default(1).describe('Events at least.'),
          max: z.int().min(0).nullish().describe('Events at most; any number when absent.'),
        }),
      )
      .min(1)
      .max(50)
      .describe('What must be counted; all of them must hold.'),
  })
  .meta({ id: 'EvalEventsGrader', description: 'Counts events of the trial.' })
export type EventsGrader = z.infer<typeof Events>

/** Graders that judge a trial by its record alone. */
const simple = [Text, Events] as const
export type SimpleGrader = z.infer<(typeof simple)[number]>

const joined = <Type extends string>(type: Type, description: string) => ({
  name,
  type: z.literal(type).describe(description),
  of: z
    .array(z.discriminatedUnion('type', [...simple]))
    .min(1)
    .max(20)
    .describe('The graders that are joined, at most 20.'),
})

const All = z
  .strictObject(joined('all', 'Passes when all of them pass; its score is the lowest.'))
  .meta({ id: 'EvalAllGrader', description: 'Several graders, all of which have to pass.' })
const Any = z
  .strictObject(joined('any', 'Passes when one of them passes; its score is the highest.'))
  .meta({ id: 'EvalAnyGrader', description: 'Several graders, one of which has to pass.' })
const Weighted = z
  .strictObject({
    ...joined('weighted', 'Its score is the weighted mean.'),
    weights: z.array(z.number().positive()).min(1).max(20).describe('One for each grader of `of`.'),
    threshold: z.number().min(0).max(1).default(0.5).describe('Passes from this score on.'),
  })
  .refine(({ of, weights }) => of.length === weights.length, {
    path: ['weights'],
    message: 'must have one weight for each grader of `of`',
  })
  .meta({ id: 'EvalWeightedGrader', description: 'The weighted mean of several graders.' })

const Script = z
  .strictObject({
    name,
    type: z.literal('script'),
    command: z
      .string()
      .min(1)
      .max(65_536)
      .describe(
        'A bash script, run in the working folder of the session. Exit code 0 passes. A last line of JSON with `score` from 0 to 1 is the score.',
      ),
    timeout_ms: z
      .int()
      .min(100)
      .max(600_000)
      .default(60_000)
      .describe('Milliseconds after which the script is ended and fails.'),
  })
  .meta({ id: 'EvalScriptGrader', description: 'Runs a script in the sandbox of the trial.' })

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
const File = z
  .strictObject({
    name,
    type: z.literal('file'),
    path: Line.min(1).max(1024).describe('From the working folder on, or absolute.'),
    includes: z.string().min(1).max(65_536).nullish().describe('Text that the file has.'),
    sha256: sha256.nullish().describe('The hash of its bytes.'),
  })
  .meta({
    id: 'EvalFileGrader',
    description: 'Looks at a file of the trial: that it is there, and what it holds.',
  })

const Rubric = z
  .strictObject({
    name,
    type: z.literal('rubric'),
    content: z
      .string()
      .min(1)
      .max(mostRubric)
      .optional()
      .describe('The rubric as text. Give this, or `file_id`.'),
    file_id: Id.optional().describe('A file with the rubric as text, which is read now.'),
  })
  .refine(({ content, file_id }) => (content === undefined) !== (file_id === undefined), {
    message: 'give content or file_id',
  })
  .meta({
    id: 'EvalRubricGrader',
    description: "Has the grader of outcomes judge the work: another context of the agent's model.",
  })

/** Graders that need the session of the trial, after its last turn. */
export type InspectingGrader =
  | z.infer<typeof Script>
  | z.infer<typeof File>
  | z.infer<typeof Rubric>

/** A joined grader holds simple graders only: joined graders do not nest. */
export const Grader = z
  .discriminatedUnion('type', [...simple, All, Any, Weighted, Script, File, Rubric])
  .meta({ id: 'EvalGrader', description: 'Scores a trial from 0 to 1.' })
export type Grader = z.infer<typeof Grader>

export const Graders = z
  .array(Grader)
  .max(20)
  .refine((graders) => new Set(graders.map((each) => each.name)).size === graders.length, {
    message: 'may not have two graders with one name',
  })
