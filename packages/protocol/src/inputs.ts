/** What a session works with, as whoever runs its sandbox elsewhere asks for it. [worker/input/files/asked] [worker/input/memory-asked] */
import { z } from 'zod'
import { repositoryErrorTypes } from './events.ts'
import { Line } from './primitives.ts'

/** `known`: a revision whose files are known; with it nothing is listed again. */
export const GivenFilesQuery = z.strictObject({
  known: z.coerce
    .number<string>()
    .int()
    .optional()
    .describe('A revision whose files are known: with it nothing is listed again.'),
})

/** `revision` is another one whenever the files are others. `is_told`: the agent has known of it from the first. */
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

/** By the id of the store; one that was deleted is missing. */
export const StoreRevisions = z.object({
  revisions: z
    .record(z.string(), z.number())
    .describe('The revision of each store by its id; a deleted store is missing.'),
})

/** All that lies in a store, by path; null for a store that is gone. */
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

/** A file as it is now, or that it is no more. `expected_sha` is the hash of the content it was changed from, null for a new file. */
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
 * `ok`: the store holds what the file holds, in place of what was `replaced`; `memory` is null after a deletion.
 * `conflict`: another wrote first, and nothing was written; `current` lies at the path, or at one above or below it.
 * `refused`: the store does not take such a file, or none any more, until it is another one.
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

/** One for each change, and between which revisions of the store; null for a store that is gone. */
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

/** Why a repository of the session could not be laid out: one of the types of its errors, and a sentence. */
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

/** Why a worker that has claimed a session could begin nothing of it. */
export const NotBegun = z
  .strictObject({ message: z.string().min(1).max(1000).describe('A sentence for a person.') })
  .meta({ id: 'FailureParams', examples: [{ message: 'the disk of the worker is full' }] })

/** Whether the session's log tells it anew. */
export const FailureTold = z.object({
  told: z.boolean().describe('False: the log said the same lately.'),
})
