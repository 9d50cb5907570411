/** Datasets: samples with versions, for many runs. */
import { z } from 'zod'
import {
  CreatedAt,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  UpdatedAt,
  pageLimit,
} from './primitives.ts'
import type { Sample } from './samples.ts'
import { SampleId, Samples } from './samples.ts'

const name = Line.min(1).max(256).describe('What people call the dataset.')
const description = Line.max(4096).nullish().describe('What its samples are about.')

const Source = z
  .strictObject({
    type: z.literal('sessions'),
    session_ids: z.array(Id).min(1).max(100).describe('1 to 100 sessions.'),
  })
  .describe(
    'Sessions that become samples: their messages are the input, their last answer is expected, and their answers to calls are the scripted ones.',
  )

export const DatasetCreate = z
  .strictObject({
    name,
    description,
    metadata: Metadata.nullish(),
    samples: Samples.nullish().describe(
      'Samples to begin with, at most 1,000. A dataset has at most 10,000, and 64 MiB as JSON.',
    ),
    source: Source.nullish().describe('Sessions that become samples.'),
  })
  .meta({
    id: 'EvalDatasetCreateParams',
    examples: [
      { name: 'refunds', samples: [{ id: 'greets', input: 'say: hello', expected: 'hello' }] },
    ],
  })
export type DatasetCreate = z.infer<typeof DatasetCreate>

export const DatasetUpdate = z
  .strictObject({
    name: name.nullish(),
    description,
    metadata: MetadataPatch.nullish(),
    samples: Samples.nullish().describe(
      'Each is added, or takes the place of the one with its id.',
    ),
    source: Source.nullish().describe('Sessions that become further samples.'),
    remove: z.array(SampleId).max(1000).nullish().describe('Ids of samples to remove.'),
  })
  .meta({
    id: 'EvalDatasetUpdateParams',
    description: 'A change of samples makes a new version.',
    examples: [{ samples: [{ id: 'greets', input: 'say: good day', expected: 'good day' }] }],
  })
export type DatasetUpdate = z.infer<typeof DatasetUpdate>

export type Dataset = {
  id: string
  type: 'eval_dataset'
  name: string
  description: string | null
  metadata: Record<string, string>
  version: number
  created_at: string
  updated_at: string
}

export const DatasetShown = z
  .object({
    id: z.string(),
    type: z.literal('eval_dataset'),
    name: z.string(),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    version: z.int().describe('Counts the changes of its samples from 1.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'EvalDataset', description: 'Samples with versions.' })

export const SampleListQuery = ListQuery.pick({ limit: true, page: true, cursor: true }).extend({
  version: pageLimit(1, 2 ** 31 - 1)
    .optional()
    .describe('The samples of this version; of the newest when absent.'),
})
export type SampleListQuery = z.infer<typeof SampleListQuery>

export type DatasetSample = Sample & { id: string; type: 'eval_sample'; created_at: string }
