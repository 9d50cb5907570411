/** Workspaces that are put aside by whoever runs a session's sandbox elsewhere. [worker/checkpoint/asked] */
import { z } from 'zod'

/** One archive: a tar, compressed by zstd. `key` is the service's name of it. */
export const CheckpointPart = z.object({
  key: z.string().max(1024),
  size: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type CheckpointPart = z.infer<typeof CheckpointPart>

/** The whole, and what has changed since. */
const CheckpointParts = z.object({ base: CheckpointPart, delta: CheckpointPart.nullable() })

export type CheckpointParts = z.infer<typeof CheckpointParts>

/** `folder` names the folder of workspaces in which the session was used last. */
const Checkpoint = z.object({
  folder: z.string().regex(/^[\w-]{1,128}$/),
  parts: CheckpointParts.nullable(),
  taken_at: z.string().nullable(),
})
export type Checkpoint = z.infer<typeof Checkpoint>

export const CheckpointShown = z.object({ checkpoint: Checkpoint.nullable() })

/** `seen`: what was found there; it is another one when somebody else came between. */
export const CheckpointUse = z.object({
  folder: Checkpoint.shape.folder,
  seen: Checkpoint.nullable(),
})
export const CheckpointCommit = z.object({ made: CheckpointParts, seen: Checkpoint })

export const CheckpointDone = z.object({ done: z.boolean() })
