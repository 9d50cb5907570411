/** The inputs of a session, as a worker asks for them. [worker/input/files/asked] [worker/input/memory-asked] */
import { z } from 'zod'
import { repositoryErrorTypes } from './events.ts'
import { Line } from './primitives.ts'

/** `known`: a revision that the caller has. Its files are not listed again. */
export const GivenFilesQuery = z.object({
  known: z.coerce
    .number<string>()
    .int()
    .optional()
    .describe('A revision whose files are known: with it nothing is listed again.'),
})

/** `revision` changes whenever the files change. `is_told`: the agent has known of the file from the start. */
export const GivenFiles = z
  .object({
    revision: z.number().describe('Another number whenever the files are others.'),
    files: z
      .array(
        z.object({
          id: z.string(),
          filename: z.string(),
          resolved_path: z.string().nullable().describe('Where the file lies in the sandbox.'),
          is_told: z.boolean().describe('Whether the agent knew of the file from the first.'),
        }),
      )
      .nullable()
      .describe('Null where the revision is the known one.'),
  })
  .meta({ id: 'SessionFiles', description: 'The files of a session, at one revision.' })

export type GivenFiles = z.infer<typeof GivenFiles>

/** Revisions by the id of the store. A deleted store is missing. */
export const StoreRevisions = z.object({
  revisions: z
    .record(z.string(), z.number())
    .describe('The revision of each store by its id; a deleted store is missing.'),
})

/** All memories of a store, by path. Null for a deleted store. */
export const StoreFacts = z.object({
  facts: z
    .object({
      revision: z.number().describe('The revision of the store.'),
      hashes: z
        .array(z.tuple([z.string(), z.string()]))
        .describe('The path and the SHA-256 of each memory.'),
    })
    .nullable()
    .describe('Null for a store that was deleted.'),
})

const most = 50
const path = Line.max(4096).describe('The path of the memory: begins with `/`.')

export const MemoryPaths = z
  .strictObject({ paths: z.array(path).max(most).describe('Paths of memories, at most 50.') })
  .meta({ id: 'MemoryPathsParams', examples: [{ paths: ['/style/naming.md'] }] })

export const MountedMemory = z
  .object({
    memory_id: z.string(),
    path: z.string().describe('The path of the memory.'),
    content: z.string().describe('The whole text.'),
    content_sha256: z.string().describe('The hash of the text.'),
  })
  .meta({ id: 'MountedMemory', description: 'One text of a store, as it is mounted.' })
export type MountedMemory = z.infer<typeof MountedMemory>

export const MemoryContents = z.object({
  memories: z.array(MountedMemory).describe('The memories that exist.'),
})

/**
 * A change of a memory: its new text, or its deletion. `expected_sha` is the hash of the text that was changed, and
 * null for a new memory.
 */
const expected_sha = z
  .string()
  .nullable()
  .describe('Hash of the content that was changed; null for a new file.')
const MemoryChange = z.union([
  z.strictObject({ path, expected_sha, content: z.string().describe('The new text.') }),
  z.strictObject({ path, expected_sha, deleted: z.literal(true) }),
])
export type MemoryChange = z.infer<typeof MemoryChange>
export const MemoryChanges = z
  .strictObject({
    changes: z.array(MemoryChange).max(most).describe('At most 50, applied in order.'),
  })
  .meta({
    id: 'MemoryChangesParams',
    examples: [{ changes: [{ path: '/notes.md', expected_sha: null, content: 'Use tabs.' }] }],
  })

/**
 * `ok`: the store holds the content of the file. `replaced` is the memory that was overwritten; `memory` is null after
 * a deletion.
 * `conflict`: another writer was first, and nothing was written. `current` lies at the path, above it or below it.
 * `refused`: the store does not accept the file, or accepts no more changes. Do not send the file again before it
 * changes.
 */
export const MountedOutcome = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('ok'),
      memory: MountedMemory.nullable(),
      replaced: MountedMemory.optional(),
    }),
    z.object({ type: z.literal('conflict'), current: MountedMemory }),
    z.object({ type: z.literal('refused'), why: z.string().describe('A sentence for the agent.') }),
  ])
  .meta({
    id: 'MemoryOutcome',
    description:
      '`ok`: the store holds the file. `conflict`: another has written first, and nothing was written. `refused`: the store does not take the file.',
  })
export type MountedOutcome = z.infer<typeof MountedOutcome>

/** One outcome for each change, and the revisions of the store before and after. Null for a deleted store. */
export const MemoryOutcomes = z.object({
  written: z
    .object({
      outcomes: z.array(MountedOutcome).describe('One for each change, in the same order.'),
      from: z.number().describe('The revision of the store before.'),
      to: z.number().describe('The revision of the store afterwards.'),
    })
    .nullable()
    .describe('Null for a store that was deleted.'),
})

/** The reason why a repository of the session could not be mounted: an error type and a sentence. */
export const RepositoryFailed = z
  .strictObject({
    type: z.enum(repositoryErrorTypes),
    message: z.string().min(1).max(1000).describe('A sentence for a person.'),
  })
  .meta({
    id: 'RepositoryFailureParams',
    examples: [{ type: 'repository_clone_error', message: 'the host did not answer' }],
  })
export type RepositoryFailed = z.infer<typeof RepositoryFailed>

/** The reason why a worker could not begin a claimed session. */
export const NotBegun = z
  .strictObject({ message: z.string().min(1).max(1000).describe('A sentence for a person.') })
  .meta({ id: 'FailureParams', examples: [{ message: 'the disk of the worker is full' }] })

/** `told` is true when the failure was appended to the session's log. */
export const FailureTold = z.object({
  told: z.boolean().describe('False: the log said the same lately.'),
})
