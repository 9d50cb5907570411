/** Checkpoints: working folders that a worker puts aside. [worker/checkpoint/asked] */
import { z } from 'zod'
import { exampleHash, exampleIds } from './example-ids.ts'

/** One archive: a tar, compressed by zstd. `key` is the service's name for the archive. */
export const CheckpointPart = z
  .object({
    key: z.string().max(1024).describe('The name of the archive in this service.'),
    size: z.number().int().nonnegative().describe('Bytes.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
      .describe('The hash of its bytes: 64 hexadecimal digits.'),
  })
  .meta({ id: 'CheckpointPart', description: 'One archive: a tar, compressed by zstd.' })
export type CheckpointPart = z.infer<typeof CheckpointPart>

/** The archive of the whole working folder, and the archive of the changes since. */
const CheckpointParts = z
  .object({
    base: CheckpointPart.describe('The whole.'),
    delta: CheckpointPart.nullable().describe('What has changed since.'),
  })
  .meta({ id: 'CheckpointParts', description: 'The archives of a working folder.' })

export type CheckpointParts = z.infer<typeof CheckpointParts>

/** `folder` names the worker's folder in which the session ran last. */
const Checkpoint = z
  .object({
    folder: z
      .string()
      .regex(/^[\w-]{1,128}$/, 'must have 1 to 128 letters, digits, _ or -')
      .describe('Names the place in which the session ran last.'),
    parts: CheckpointParts.nullable(),
    taken_at: z.string().nullable().describe('When the archives were made, or null.'),
  })
  .meta({ id: 'Checkpoint', description: 'Where the working folder of a session is.' })
export type Checkpoint = z.infer<typeof Checkpoint>

export const CheckpointShown = z.object({ checkpoint: Checkpoint.nullable() })

const folder = 'machine-1'

export const CheckpointUse = z
  .object({
    folder: Checkpoint.shape.folder,
    seen: Checkpoint.nullable().describe('The checkpoint that you have read.'),
  })
  .meta({ id: 'CheckpointUseParams', examples: [{ folder, seen: null }] })
export const CheckpointCommit = z
  .object({
    made: CheckpointParts.describe('The archives that were sent.'),
    seen: Checkpoint.describe('The checkpoint that you have read.'),
  })
  .meta({
    id: 'CheckpointCommitParams',
    examples: [
      {
        made: {
          base: { key: exampleIds.checkpointPart, size: 4, sha256: exampleHash },
          delta: null,
        },
        seen: { folder, parts: null, taken_at: null },
      },
    ],
  })

export const CheckpointDone = z.object({
  done: z
    .boolean()
    .describe('False: the checkpoint is another one by now, and nothing was changed.'),
})
