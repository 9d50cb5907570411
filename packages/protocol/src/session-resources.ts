import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { CreatedAt, Id, Line, ListQuery, UpdatedAt, extension } from './primitives.ts'

const mount_path = Line.max(1024)
  .nullish()
  .describe('Where it lies in the sandbox; the service chooses a place when absent.')

/** A file that is copied into the session. [resources/file] */
export const FileResource = z
  .strictObject({ type: z.literal('file'), file_id: Id, mount_path })
  .meta({
    id: 'FileResourceParams',
    description: 'A file of the workspace, copied into the session.',
    examples: [{ type: 'file', file_id: exampleIds.file, mount_path: '/workspace/data.csv' }],
  })
export type FileResource = z.infer<typeof FileResource>

const Token = Line.min(1)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/, 'must hold printable ASCII characters alone')

/** The branch or commit that is checked out. Without a checkout, the default branch is used. */
const Checkout = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('branch'), name: Line.min(1).max(1024) })
    .meta({ id: 'BranchCheckout', description: 'The newest commit of a branch.' }),
  z
    .strictObject({
      type: z.literal('commit'),
      sha: z
        .string()
        .regex(/^[0-9a-fA-F]{40}$/, 'must be a whole commit id of 40 hexadecimal digits')
        .toLowerCase()
        .describe('The whole id of the commit: 40 hexadecimal digits.'),
    })
    .meta({ id: 'CommitCheckout', description: 'One commit.' }),
])
export type Checkout = z.infer<typeof Checkout>

/** A repository that a session works in. [resources/repository] */
export const RepositoryResource = z
  .strictObject({
    type: z.literal('github_repository'),
    url: Line.max(2048).describe('The https address to clone from.'),
    authorization_token: Token.nullish().describe('No answer contains it.'),
    checkout: Checkout.nullish().describe('The default branch when absent.'),
    mount_path,
  })
  .meta({
    id: 'GitHubRepositoryResourceParams',
    description: 'A repository that is cloned into the session.',
  })
export type RepositoryResource = z.infer<typeof RepositoryResource>

const MemoryAccess = z
  .enum(['read_write', 'read_only'])
  .describe('Whether the session may change the store.')
export type MemoryAccess = z.infer<typeof MemoryAccess>

/** A memory store that a session works with. [resources/memory-store] */
export const MemoryStoreResource = z
  .strictObject({
    type: z.literal('memory_store'),
    memory_store_id: Id,
    access: MemoryAccess.nullish().describe(
      'Whether the session may change the store; `read_write` when absent.',
    ),
    instructions: Line.max(4096).nullish().describe('The agent reads how to use the store.'),
    mount_path,
  })
  .meta({ id: 'MemoryStoreResourceParams', description: 'A memory store, mounted as a folder.' })
export type MemoryStoreResource = z.infer<typeof MemoryStoreResource>

export const ResourceListQuery = ListQuery

const shown = {
  id: z.string(),
  mount_path: z.string().describe('As it was sent.'),
  resolved_path: z.string().meta(extension('Where it lies in the sandbox.')),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
}

export const ResourceShown = z
  .discriminatedUnion('type', [
    z
      .object({ ...shown, type: z.literal('file'), file_id: z.string() })
      .meta({ id: 'FileResource', description: 'A file in the session.' }),
    z
      .object({
        ...shown,
        type: z.literal('github_repository'),
        url: z.string().describe('The https address that it is cloned from.'),
        checkout: Checkout.nullable().describe(
          'The branch or commit; null for the default branch.',
        ),
      })
      .meta({ id: 'GitHubRepositoryResource', description: 'A repository in the session.' }),
    z
      .object({
        ...shown,
        type: z.literal('memory_store'),
        memory_store_id: z.string(),
        access: MemoryAccess,
        name: z.string().describe('The name of the store when it was attached.'),
        description: z.string().describe('Its description when it was attached.'),
        instructions: z.string().nullable().describe('How the agent is to use the store, or null.'),
      })
      .meta({ id: 'MemoryStoreResource', description: 'A memory store in the session.' }),
  ])
  .meta({ id: 'SessionResource', description: 'Something that a session works on.' })
export type SessionResource = z.infer<typeof ResourceShown>
export type ResourceType = SessionResource['type']

/** The fields that only some types of resources have. */
export type ResourceFields<Type extends ResourceType = ResourceType> = Type extends unknown
  ? Omit<Extract<SessionResource, { type: Type }>, keyof typeof shown | 'type'>
  : never

/** Only repositories have a field that can change. */
export const ResourceUpdate = z
  .strictObject({ authorization_token: Token.describe('The new token of the repository.') })
  .meta({ id: 'ResourceUpdateParams', examples: [{ authorization_token: 'ghp_example' }] })
