/** Samples: the input that an eval gives to an agent, and the expected result. */
import { z } from 'zod'
import { UserMessage } from './events.ts'
import { Graders } from './graders.ts'
import { Id, JsonValue, Line, Metadata } from './primitives.ts'

/** Characters of a sample as JSON. */
export const mostSample = 262_144

/** Answers a call that the trial waits for. */
const Answer = z
  .strictObject({
    tool: Line.min(1).max(256).describe('The name of the tool whose call is answered.'),
    content: z.string().max(65_536).nullish().describe('The result of a custom tool.'),
    is_error: z.boolean().nullish().describe('Whether the result says that the call has failed.'),
    result: z.enum(['allow', 'deny']).nullish().describe('Confirms a call, or denies it.'),
  })
  .refine(({ content, result }) => (typeof content === 'string') !== Boolean(result), {
    path: ['content'],
    message: 'give content, or result for a call that asks for permission',
  })
  .meta({ id: 'EvalAnswer', description: 'A scripted answer to a call that waits for somebody.' })

const FilePath = Line.min(1)
  .max(1024)
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), {
    message: 'must be a path below the working folder, without ..',
  })

/** Characters of one file of a sample. */
export const mostFile = 131_072

const path = FilePath.describe('From the working folder on.')

const SampleFile = z
  .strictObject({
    path,
    content: z
      .string()
      .max(mostFile)
      .optional()
      .describe('The text of the file. Give this, or `file_id`.'),
    file_id: Id.optional().describe('A file of text, which is read now.'),
  })
  .refine(({ content, file_id }) => (content === undefined) !== (file_id === undefined), {
    message: 'give content or file_id',
  })
export type SampleFile = z.infer<typeof SampleFile>

export const SampleFiles = z
  .array(SampleFile)
  .max(50)
  .describe('Files that are written before the agent is told anything.')

export const SampleId = Line.min(1).max(128)

export const Sample = z
  .strictObject({
    id: SampleId.nullish().describe('Comparisons join samples by it. Numbered when absent.'),
    input: z
      .union([
        z.string().min(1),
        z
          .array(z.union([z.string().min(1), UserMessage]))
          .min(1)
          .max(50),
      ])
      .describe('A message, or several: each is posted when the agent has answered the last one.'),
    files: SampleFiles.nullish().describe(
      'Files that are written before the agent is told anything.',
    ),
    setup_script: z
      .string()
      .min(1)
      .max(65_536)
      .nullish()
      .describe('A bash script that runs behind that, in the working folder.'),
    expected: JsonValue.optional().describe('What a grader compares with.'),
    answers: z.array(Answer).max(50).nullish().describe('Answers to calls that wait for somebody.'),
    graders: Graders.nullish().describe('Graders of this sample alone, beside those of the run.'),
    metadata: Metadata.nullish(),
    tags: z.array(Line.min(1).max(64)).max(20).nullish().describe('Words of your own, at most 20.'),
  })
  .refine((sample) => JSON.stringify(sample).length <= mostSample, {
    message: `may have ${mostSample} characters as JSON`,
  })
  .meta({
    id: 'EvalSample',
    description: 'One case: what the agent is told, and what is expected.',
  })
export type Sample = z.infer<typeof Sample>

export const Samples = z
  .array(Sample)
  .min(1)
  .max(1000)
  .refine(hasOwnIds, { message: 'may not have two samples with one id' })

/** The ids of the samples. A sample without an id gets its number. */
export const idOfSample = ({ id }: { id?: string | null | undefined }, index: number): string =>
  id ?? `sample_${index + 1}`

function hasOwnIds(samples: readonly { id?: string | null | undefined }[]): boolean {
  return new Set(samples.map(idOfSample)).size === samples.length
}

export const SampleShown = z
  .looseObject({ id: z.string(), type: z.literal('eval_sample') })
  .meta({ id: 'EvalSampleShown', description: 'A sample of a dataset, as it was given.' })
