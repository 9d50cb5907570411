/** Work that environment workers claim. [work/poll] [work/views] */
import { z } from 'zod'
import { CreatedAt, ListQuery, MetadataPatch, Timestamp, wholeNumberFrom } from './primitives.ts'

export const workStates = ['queued', 'starting', 'active', 'stopping', 'stopped'] as const

/** Only the answer to a poll shows `secret`. */
export const Work = z
  .object({
    id: z.string(),
    type: z.literal('work'),
    environment_id: z.string(),
    state: z
      .enum(workStates)
      .describe('`starting`: acknowledged. `active`: its worker sends heartbeats.'),
    data: z
      .object({ type: z.literal('session'), id: z.string() })
      .describe('The session to work on.'),
    secret: z
      .string()
      .nullable()
      .describe('Base64 of JSON with the tokens of the claim; in the answer to a poll alone.'),
    metadata: z.record(z.string(), z.string()),
    created_at: CreatedAt,
    acknowledged_at: Timestamp.nullable().describe('When a worker acknowledged the item, or null.'),
    started_at: Timestamp.nullable().describe('When the first heartbeat came, or null.'),
    latest_heartbeat_at: Timestamp.nullable().describe('When the newest heartbeat came, or null.'),
    stop_requested_at: Timestamp.nullable().describe('When a stop was asked for, or null.'),
    stopped_at: Timestamp.nullable().describe('When the item ended, or null.'),
  })
  .meta({ id: 'SelfHostedWork', description: 'A session that a worker may claim.' })
export type Work = z.infer<typeof Work>

export const WorkPollQuery = z.object({
  block_ms: z.coerce
    .number<string>()
    .int()
    .min(1)
    .max(999)
    .optional()
    .describe('Milliseconds to wait for an item.'),
  reclaim_older_than_ms: wholeNumberFrom(1)
    .optional()
    .describe('Milliseconds after which an item that no worker acknowledged is given again.'),
})

export const WorkListQuery = ListQuery

export const HeartbeatQuery = z.object({
  expected_last_heartbeat: z
    .string()
    .max(128)
    .optional()
    .describe(
      '`last_heartbeat` of the answer before; refused with 412 where it is another by now.',
    ),
  desired_ttl_seconds: wholeNumberFrom(1).optional().describe('How long the lease should hold.'),
})

/** The answer tells the worker what to do: `stopping`, `stopped` and a lease that is not extended end its run. */
export const Heartbeat = z
  .object({
    type: z.literal('work_heartbeat'),
    last_heartbeat: z
      .string()
      .describe(
        'Send it as `expected_last_heartbeat` with the next one; empty when there was none.',
      ),
    lease_extended: z.boolean().describe('False: the item is being stopped, or has ended.'),
    state: z.enum(workStates).describe('`stopping`: end the run. `stopped`: the run has ended.'),
    ttl_seconds: z.number().int().describe('Seconds for which the lease holds from now on.'),
  })
  .meta({
    id: 'SelfHostedWorkHeartbeatResponse',
    description:
      'The state of the lease. `stopping`, `stopped` and a lease that is not extended end the run.',
  })
export type Heartbeat = z.infer<typeof Heartbeat>

export const WorkStop = z
  .strictObject({
    force: z.boolean().optional().describe('End the item now, without waiting for its worker.'),
  })
  .meta({ id: 'SelfHostedWorkStopRequest', examples: [{ force: true }] })
export const WorkUpdate = z
  .strictObject({ metadata: MetadataPatch })
  .meta({ id: 'SelfHostedWorkUpdateRequest', examples: [{ metadata: { machine: 'm1' } }] })

export const WorkStats = z
  .object({
    type: z.literal('work_queue_stats'),
    depth: z.number().int().describe('Items that wait for a worker.'),
    pending: z.number().int().describe('Items that a worker was given and has not acknowledged.'),
    oldest_queued_at: Timestamp.nullable().describe('Since when the oldest item waits, or null.'),
    workers_polling: z
      .number()
      .int()
      .nullable()
      .describe('Workers that asked in the last 30 seconds.'),
  })
  .meta({ id: 'SelfHostedWorkQueueStats', description: 'Figures of the queue.' })

const ClaimOfWorker = z.object({
  work_id: z.string().describe('The work item that is claimed.'),
  session_id: z.string(),
  state: z.enum(workStates).describe('The state of the work item.'),
  latest_heartbeat_at: Timestamp.nullable().describe('Null before the first heartbeat.'),
})

export const WorkerShown = z
  .object({
    type: z.literal('worker'),
    name: z
      .string()
      .nullable()
      .describe('As it calls itself by `Anthropic-Worker-ID`. Null for one that names itself not.'),
    key_id: z
      .string()
      .nullable()
      .describe('The environment key with which it has claimed. Null without a claim.'),
    last_seen_at: Timestamp.describe('When it last polled, claimed or sent a heartbeat.'),
    is_polling: z.boolean().describe('Whether it has asked for work in the last 30 seconds.'),
    claims: z.array(ClaimOfWorker).describe('What it holds now.'),
  })
  .meta({ id: 'Worker', description: 'A worker that was seen lately, or holds a claim.' })
export type WorkerShown = z.infer<typeof WorkerShown>
