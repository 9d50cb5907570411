/** Tasks: the samples of an earlier interface, with their own words for graders. */
import { z } from 'zod'
import { mostRubric } from './outcomes.ts'
import { Line } from './primitives.ts'
import { SampleFiles, SampleId } from './samples.ts'

const text = z.string().min(1).max(65_536)
const tool = Line.min(1).max(256).describe('The name of the tool.')

const Scorer = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('includes'),
    value: text.describe('Text that the last message of the agent must hold.'),
  }),
  z.strictObject({
    type: z.literal('regex'),
    pattern: text.describe('A regular expression that the last message of the agent must match.'),
  }),
  z.strictObject({ type: z.literal('tool_used'), tool }),
  z.strictObject({ type: z.literal('tool_not_used'), tool }),
  z.strictObject({
    type: z.literal('bash_exit'),
    command: text.describe('A command that must end with 0.'),
  }),
  z.strictObject({
    type: z.literal('file_written'),
    path: Line.min(1).max(1024).describe('A file that must be there, from the working folder on.'),
  }),
  z.strictObject({ type: z.literal('idle_no_error') }),
])
export type Scorer = z.infer<typeof Scorer>

const Reward = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('script'),
    script: text.describe('A bash script that passes with exit code 0.'),
  }),
  z.strictObject({
    type: z.literal('verifiable'),
    scorers: z.array(Scorer).min(1).max(20).describe('All of them must pass.'),
  }),
  z.strictObject({
    type: z.literal('llm_judge'),
    rubric: z
      .string()
      .min(1)
      .max(mostRubric)
      .describe('The rubric by which the grader of outcomes judges.'),
  }),
])
export type Reward = z.infer<typeof Reward>

export const EvalTask = z
  .strictObject({
    id: SampleId,
    messages: z
      .array(z.string().min(1))
      .min(1)
      .max(50)
      .describe('Each is posted when the agent has answered the last one.'),
    setup_files: SampleFiles.nullish().describe(
      'Files that are written before the agent is told anything.',
    ),
    setup_script: text.nullish().describe('A bash script that runs behind that.'),
    reward: Reward.nullish().describe('When absent, a trial passes that ends without an error.'),
  })
  .meta({ id: 'EvalTaskParams', description: 'A sample in the words of an earlier interface.' })
export type EvalTask = z.infer<typeof EvalTask>
