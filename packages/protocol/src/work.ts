/** Work that environment workers claim. [work/poll] [work/views] */
import { z } from 'zod'
import { ListQuery, MetadataPatch, Timestamp, wholeNumberFrom } from './primitives.ts'

export const workStates = ['queued', 'starting', 'active', 'stopping', 'stopped'] as const

/** `secret` is shown in the answer to a poll and nowhere else. */
export const Work = z.object({
  id: z.string(),
  type: z.literal('work'),
  environment_id: z.string(),
  state: z.enum(workStates),
  data: z.object({ type: z.literal('session'), id: z.string() }),
  secret: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  created_at: Timestamp,
  acknowledged_at: Timestamp.nullable(),
  started_at: Timestamp.nullable(),
  latest_heartbeat_at: Timestamp.nullable(),
  stop_requested_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
})
export type Work = z.infer<typeof Work>

export const WorkPollQuery = z.object({
  block_ms: z.coerce.number<string>().int().min(1).max(999).optional(),
  /** Milliseconds after which an item that was handed out and not acknowledged may be handed out again. */
  reclaim_older_than_ms: wholeNumberFrom(1).optional(),
})

export const WorkListQuery = ListQuery

export const HeartbeatQuery = z.object({
  expected_last_heartbeat: z.string().max(128).optional(),
  desired_ttl_seconds: wholeNumberFrom(1).optional(),
})

/** What the worker must do next follows from it: `stopping`, `stopped` and an unextended lease end its run. */
export const Heartbeat = z.object({
  type: z.literal('work_heartbeat'),
  /** Sent back as it is with the next one; empty when there was none. */
  last_heartbeat: z.string(),
  lease_extended: z.boolean(),
  state: z.enum(workStates),
  ttl_seconds: z.number().int(),
})
export type Heartbeat = z.infer<typeof Heartbeat>

export const WorkStop = z.strictObject({ force: z.boolean().optional() })
export const WorkUpdate = z.strictObject({ metadata: MetadataPatch })

export const WorkStats = z.object({
  type: z.literal('work_queue_stats'),
  /** Waiting, and handed out to nobody. */
  depth: z.number().int(),
  /** Handed out, and not acknowledged. */
  pending: z.number().int(),
  oldest_queued_at: Timestamp.nullable(),
  /** That asked in the last 30 seconds. */
  workers_polling: z.number().int().nullable(),
})
