import { z } from 'zod'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  Timestamp,
  UpdatedAt,
  extension,
  includeArchived,
  shortPageLimit,
} from './primitives.ts'

const noControls = (text: string): boolean => !/\p{Cc}/u.test(text)
const name = Line.min(1)
  .max(255)
  .refine(noControls, 'may hold no control characters')
  .describe('What people and agents call the store.')
const description = Line.max(1024).describe('The agent reads what the store is for.')

export const MemoryStoreCreate = z
  .strictObject({
    name,
    description: description.nullish(),
    metadata: Metadata.nullish(),
    agent_id: Id.nullish().meta(extension('Kept and returned.')),
    embedding_model: Line.min(1).max(256).nullish().meta(extension('Kept and returned.')),
    vector_index: Line.min(1).max(256).nullish().meta(extension('Kept and returned.')),
  })
  .meta({
    id: 'MemoryStoreCreateParams',
    examples: [{ name: 'Conventions', description: 'How this team writes code' }],
  })
export type MemoryStoreCreate = z.infer<typeof MemoryStoreCreate>

/** An omitted field and null keep the value; an empty description clears it. [memory-stores/update] */
export const MemoryStoreUpdate = z
  .strictObject({
    name: name.nullish(),
    description: description.nullish(),
    metadata: MetadataPatch.nullish(),
  })
  .meta({ id: 'MemoryStoreUpdateParams', examples: [{ name: 'Conventions of the team' }] })
export type MemoryStoreUpdate = z.infer<typeof MemoryStoreUpdate>

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** 1 to 20 segments, each behind a slash; at most 1,024 bytes, in Unicode NFC. */
export const MemoryPath = Line.superRefine((path, context) => {
  const problem = pathProblem(path)
  if (problem) context.addIssue({ code: 'custom', message: problem })
}).describe('Begins with `/`; 1 to 20 segments, at most 1,024 bytes.')

function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must begin with /'
  if (bytesOf(path) > 1024) return 'must be at most 1,024 bytes'
  const segments = path.slice(1).split('/')
  if (segments.length > 20) return 'must have at most 20 segments'
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'must have no segment that is empty, . or ..'
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path)) return 'must have no control or format characters'
  return path === path.normalize('NFC') ? undefined : 'must be composed as Unicode NFC'
}

/** The text of a memory. Null means an empty text. */
const Content = Line.refine((text) => bytesOf(text) <= 102_400, 'must be at most 102,400 bytes')
  .nullable()
  .describe('The text, at most 102,400 bytes; null is empty.')
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')

export const MemoryCreate = z.strictObject({ path: MemoryPath, content: Content }).meta({
  id: 'MemoryCreateParams',
  examples: [{ path: '/style/naming.md', content: 'A function is a verb with its object.' }],
})
export type MemoryCreate = z.infer<typeof MemoryCreate>

export const MemoryUpdate = z
  .strictObject({
    path: MemoryPath.nullish().describe('A new path; it stays when absent.'),
    content: Content.optional(),
    precondition: z
      .strictObject({
        type: z.literal('content_sha256'),
        content_sha256: sha256.describe('The hash of the text that you have read.'),
      })
      .nullish()
      .describe('The content that you have read: refused where the memory has another by now.'),
  })
  .meta({
    id: 'MemoryUpdateParams',
    examples: [{ content: 'A type is a noun, a function a verb with its object.' }],
  })
export type MemoryUpdate = z.infer<typeof MemoryUpdate>

const MemoryView = z.enum(['basic', 'full']).describe('`full` includes the content.')

/**
 * The largest page that shows contents. A larger `limit` is lowered to this number, as on the official client's wire.
 */
const mostFull = 20
const capFullView = <Query extends { view: 'basic' | 'full'; limit: number }>(
  query: Query,
): Query => (query.view === 'full' ? { ...query, limit: Math.min(query.limit, mostFull) } : query)

export const MemoryViewQuery = z.object({ view: MemoryView.default('full') })

export const MemoryListQuery = ListQuery.extend({
  limit: shortPageLimit,
  view: MemoryView.default('basic'),
  depth: z
    .enum(['0', '1'], { error: 'must be 0 or 1' })
    .default('0')
    .transform(Number)
    .describe('1 lists what lies directly below the prefix; 0 lists everything below it.'),
  path_prefix: Line.max(1024)
    .refine((prefix) => prefix.startsWith('/'), 'must begin with /')
    .default('/')
    .describe(
      'Only memories below it; begins and ends with `/`. Under the older beta value alone it may end otherwise, and is then the beginning of paths.',
    ),
}).transform(capFullView)
export type MemoryListQuery = z.infer<typeof MemoryListQuery>

export const MemoryDeleteQuery = z.object({
  expected_content_sha256: sha256
    .optional()
    .describe('The content that you have read: refused where the memory has another by now.'),
})

export const MemoryStoreListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  include_archived: includeArchived,
})

export const memoryOperations = ['created', 'modified', 'deleted'] as const
export type MemoryOperation = (typeof memoryOperations)[number]

export const MemoryVersionListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  limit: shortPageLimit,
  view: MemoryView.default('basic'),
  memory_id: z.string().optional().describe('Only versions of this memory.'),
  operation: z.enum(memoryOperations).optional().describe('Only versions that came about so.'),
  session_id: z.string().optional().describe('Only versions that this session has made.'),
  api_key_id: z.string().optional().describe('Only versions that this key has made.'),
  service_account_id: z
    .string()
    .optional()
    .describe('Only versions of this service account: there are none.'),
}).transform(capFullView)

/** The author of a change: the caller of an API key, a person, or the agent of a session. [memory-versions/audit] */
export const MemoryActor = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('api_actor'),
      api_key_id: z.string().describe('The id of the key.'),
    }),
    z.object({
      type: z.literal('user_actor'),
      user_id: z.string().describe('The id of the person.'),
    }),
    z.object({
      type: z.literal('session_actor'),
      session_id: z.string().describe('The id of the session.'),
    }),
  ])
  .meta({ id: 'Actor', description: 'Who has changed a memory: a key, a person or a session.' })
export type MemoryActor = z.infer<typeof MemoryActor>

export const MemoryStoreShown = z
  .object({
    id: z.string(),
    type: z.literal('memory_store'),
    name: z.string(),
    description: z.string(),
    metadata: z.record(z.string(), z.string()),
    agent_id: z.string().nullable().meta(extension('As it was sent.')),
    embedding_model: z.string().meta(extension('As it was sent.')),
    vector_index: z.string().meta(extension('As it was sent.')),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'MemoryStore', description: 'Texts by path that outlive a session.' })
export type MemoryStore = z.infer<typeof MemoryStoreShown>

/** `content` is null in the basic view. */
export const MemoryShown = z
  .object({
    id: z.string(),
    type: z.literal('memory'),
    memory_store_id: z.string(),
    memory_version_id: z.string().describe('The version that is the present content.'),
    path: z.string().describe('The path of the memory: begins with `/`.'),
    content: z.string().nullable().describe('Null in the basic view.'),
    content_sha256: z.string().describe('The hash of the text.'),
    content_size_bytes: z.int().describe('The size of the text in bytes.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Memory', description: 'One text of a memory store.' })
export type Memory = z.infer<typeof MemoryShown>

/** Stands for all memories below a path, in lists of depth 1. A prefix has no id. */
export const MemoryPrefix = z
  .object({
    type: z.literal('memory_prefix'),
    path: z.string().describe('Begins and ends with `/`.'),
  })
  .meta({ id: 'MemoryPrefix', description: 'A path that memories lie below.' })
export type MemoryPrefix = z.infer<typeof MemoryPrefix>

/** Fields of a redacted version are null. `content` is also null in the basic view. */
export const MemoryVersionShown = z
  .object({
    id: z.string(),
    type: z.literal('memory_version'),
    memory_id: z.string(),
    memory_store_id: z.string(),
    operation: z.enum(memoryOperations).describe('What was done to the memory.'),
    path: z.string().nullable().describe('The path at that time; null once redacted.'),
    content: z
      .string()
      .nullable()
      .describe('The text at that time; null in the basic view and once redacted.'),
    content_sha256: z.string().nullable().describe('The hash of the text; null once redacted.'),
    content_size_bytes: z
      .int()
      .nullable()
      .describe('The size of the text in bytes; null once redacted.'),
    created_by: MemoryActor,
    redacted_at: Timestamp.nullable().describe('When the content was removed, or null.'),
    redacted_by: MemoryActor.nullish().describe(
      'Who has removed the content, or null. With the header `anthropic-version` absent in place of null.',
    ),
    created_at: CreatedAt,
  })
  .meta({ id: 'MemoryVersion', description: 'One change of a memory.' })
export type MemoryVersion = z.infer<typeof MemoryVersionShown>
