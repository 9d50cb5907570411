/** Dreams: an agent reads past sessions and reorganises a memory store. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Id,
  Line,
  ListQuery,
  WordList,
  Timestamp,
  includeArchived,
  shortPageLimit,
} from './primitives.ts'

export const dreamStatuses = ['pending', 'running', 'completed', 'failed', 'canceled'] as const
export type DreamStatus = (typeof dreamStatuses)[number]

const StoreInput = z.strictObject({ type: z.literal('memory_store'), memory_store_id: Id })
const SessionsInput = z.strictObject({
  type: z.literal('sessions'),
  session_ids: z
    .array(Id)
    .min(1)
    .max(100)
    .refine((ids) => new Set(ids).size === ids.length, 'may name each session once')
    .describe('1 to 100 sessions, each once.'),
})
const Input = z.discriminatedUnion('type', [StoreInput, SessionsInput])

const Behavior = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('create_new') }),
  z.strictObject({ type: z.literal('update_existing'), memory_store_id: Id }),
])
export type DreamBehavior = z.infer<typeof Behavior>

const ModelId = Line.min(1).max(256)

export const DreamCreate = z
  .strictObject({
    inputs: z
      .array(Input)
      .superRefine((inputs, context) => {
        for (const type of ['memory_store', 'sessions'])
          if (inputs.filter((each) => each.type === type).length !== 1)
            context.addIssue({ code: 'custom', message: `need exactly one entry of type ${type}` })
      })
      .describe('One memory store, and 1 to 100 sessions.'),
    model: z
      .union([
        ModelId,
        z.strictObject({
          id: ModelId,
          speed: z
            .literal('standard', 'a dream runs at standard speed')
            .nullish()
            .describe('`standard` alone.'),
        }),
      ])
      .describe('The handle of a model card, or the identifier of a model.'),
    instructions: Line.min(1).max(4096).nullish().describe('What the dream pays attention to.'),
    output_behavior: Behavior.optional().describe(
      '`create_new`: a copy of the store is changed. `update_existing`: the store itself, which has to be named again.',
    ),
  })
  .superRefine(({ inputs, output_behavior: behavior }, context) => {
    if (behavior?.type !== 'update_existing') return
    const store = inputs.find((each) => each.type === 'memory_store')
    if (store && store.memory_store_id !== behavior.memory_store_id)
      context.addIssue({
        code: 'custom',
        path: ['output_behavior', 'memory_store_id'],
        message: 'must be the memory store of inputs',
      })
  })
  .meta({
    id: 'DreamCreateParams',
    examples: [
      {
        inputs: [
          { type: 'memory_store', memory_store_id: exampleIds.memoryStore },
          { type: 'sessions', session_ids: [exampleIds.session] },
        ],
        model: 'offline',
        instructions: 'Keep decisions, and drop what was only tried.',
      },
    ],
  })
export type DreamCreate = z.infer<typeof DreamCreate>

export const DreamListQuery = ListQuery.extend({
  limit: shortPageLimit,
  'created_at[gt]': CreatedAtQuery.shape['created_at[gt]'],
  'created_at[lt]': CreatedAtQuery.shape['created_at[lt]'],
  include_archived: includeArchived,
  statuses: WordList(dreamStatuses).optional().describe('Only dreams in one of these states.'),
})

export type DreamModel = { id: string; speed: 'standard' }
export const dreamErrors = [
  'memory_store_unavailable',
  'session_unavailable',
  'session_not_created',
  'session_ended',
  'needs_input',
  'turn_failed',
  'quota_exceeded',
  'timeout',
  'internal_error',
] as const
export type DreamError = { type: (typeof dreamErrors)[number]; message: string }

const Usage = z.object({
  input_tokens: z.int().describe('Tokens that models read, cached ones excepted.'),
  output_tokens: z.int().describe('Tokens that models wrote.'),
  cache_creation_input_tokens: z.int().describe('Tokens that were written to a cache.'),
  cache_read_input_tokens: z.int().describe('Tokens that were read from a cache.'),
})
export type DreamUsage = z.infer<typeof Usage>

export const DreamShown = z
  .object({
    id: z.string(),
    type: z.literal('dream'),
    status: z.enum(dreamStatuses).describe('Where the dream stands; the last three are ends.'),
    inputs: z.array(Input).describe('The ids of sessions are sorted.'),
    model: z
      .object({ id: z.string(), speed: z.literal('standard') })
      .describe('The model that the dream runs with.'),
    instructions: z.string().nullable().describe('What the dream pays attention to, or null.'),
    output_behavior: Behavior.describe('Whether a copy or the store itself is changed.'),
    outputs: z
      .array(StoreInput)
      .describe(
        'The store that the dream writes to, once it is known. It is whole when the dream is completed.',
      ),
    session_id: z
      .string()
      .nullable()
      .describe('The session that runs the dream: follow its stream.'),
    error: z
      .object({ type: z.enum(dreamErrors), message: z.string() })
      .nullable()
      .describe('Why the dream failed.'),
    usage: Usage.describe('After a cancel it may still grow.'),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    ended_at: Timestamp.nullable().describe('When the dream ended, or null.'),
  })
  .meta({ id: 'Dream', description: 'A memory store, reorganised by what past sessions show.' })
export type Dream = z.infer<typeof DreamShown>
