import { z } from 'zod'
import { Id, Line, ListQuery, Timestamp } from './primitives.ts'

const mount_path = Line.max(1024).nullish()

/** A file that a session brings in. [resources/file] */
export const FileResource = z.strictObject({
  type: z.literal('file'),
  file_id: Id,
  mount_path,
})
export type FileResource = z.infer<typeof FileResource>

const Token = Line.min(1)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/, 'holds printable ASCII characters alone')

/** What a repository is checked out at; its default branch when absent. */
const Checkout = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('branch'), name: Line.min(1).max(1024) }),
  z.strictObject({
    type: z.literal('commit'),
    sha: z
      .string()
      .regex(/^[0-9a-fA-F]{40}$/, 'is a whole commit id of 40 hexadecimal digits')
      .toLowerCase(),
  }),
])
export type Checkout = z.infer<typeof Checkout>

/** A repository that a session works in. [resources/repository] */
export const RepositoryResource = z.strictObject({
  type: z.literal('github_repository'),
  url: Line.max(2048),
  authorization_token: Token.nullish(),
  checkout: Checkout.nullish(),
  mount_path,
})
export type RepositoryResource = z.infer<typeof RepositoryResource>

const MemoryAccess = z.enum(['read_write', 'read_only'])
export type MemoryAccess = z.infer<typeof MemoryAccess>

/** A memory store that a session works with. [resources/memory-store] */
export const MemoryStoreResource = z.strictObject({
  type: z.literal('memory_store'),
  memory_store_id: Id,
  access: MemoryAccess.nullish(),
  instructions: Line.max(4096).nullish(),
  mount_path,
})
export type MemoryStoreResource = z.infer<typeof MemoryStoreResource>

export const ResourceListQuery = ListQuery

const shown = {
  id: z.string(),
  /** As it was sent. */
  mount_path: z.string(),
  /** Where it lies in the sandbox. */
  resolved_path: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const ResourceShown = z.discriminatedUnion('type', [
  z.object({ ...shown, type: z.literal('file'), file_id: z.string() }),
  z.object({
    ...shown,
    type: z.literal('github_repository'),
    url: z.string(),
    checkout: Checkout.nullable(),
  }),
  /** Name and description as they were when it was attached. */
  z.object({
    ...shown,
    type: z.literal('memory_store'),
    memory_store_id: z.string(),
    access: MemoryAccess,
    name: z.string(),
    description: z.string(),
    instructions: z.string().nullable(),
  }),
])
export type SessionResource = z.infer<typeof ResourceShown>

/** Repositories alone have something to change. */
export const ResourceUpdate = z.strictObject({ authorization_token: Token })
