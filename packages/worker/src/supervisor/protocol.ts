/** The messages between a supervisor and a harness, one JSON object a line. docs/supervisor-protocol.md */
import { parsedBy } from '@steward/protocol/problems.ts'
import { z } from 'zod'

export const protocol = 'openma-harness-supervisor-v1'

export const exitCodes = { done: 0, failed: 1, refused: 2, aborted: 3 } as const

/** Bytes of one line. */
export const longestLine = 1 << 20

const Start = z.object({
  type: z.literal('start'),
  protocol: z.string(),
  environment_id: z.string(),
  session_id: z.string(),
  work_id: z.string(),
  /** Absolute path of a folder that exists and is kept for the session's next work item on this machine. */
  workdir: z.string(),
  outputs: z.string(),
  /** A folder like `workdir` that the session never writes to, for inputs besides the working folder. */
  inputs: z.string().optional(),
  /** A folder like `workdir`: `/mnt/user` of the session. */
  user: z.string().optional(),
  /** True when `workdir` holds the files of an earlier harness process of the session, on any machine. */
  is_known: z.boolean().optional(),
  /** A text for the agent, shown with the first result. */
  notice: z.string().optional(),
  /** How long the lease holds, in ms, until a `lease` message extends it. Without it the harness watches no lease. */
  lease_ms: z.number().int().nonnegative().optional(),
  /** How long the session may be idle before the harness is done, in ms. */
  idle_ms: z.number().int().positive(),
  /** Settings of the operator for this harness; the supervisor does not read them. */
  settings: z.record(z.string(), z.unknown()),
})
export type Start = z.infer<typeof Start>

export const ToHarness = z.discriminatedUnion('type', [
  Start,
  z.object({
    type: z.literal('stop'),
    reason: z.enum(['shutdown', 'stopping']),
    within_ms: z.number().int().nonnegative(),
  }),
  /** The lease was extended: it holds for `for_ms` from now on. */
  z.object({ type: z.literal('lease'), for_ms: z.number().int().nonnegative() }),
  z.object({ type: z.literal('abort'), reason: z.enum(['lease_lost', 'broken', 'overdue']) }),
])
export type ToHarness = z.infer<typeof ToHarness>

export const ToSupervisor = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    protocol: z.string(),
    harness: z.object({ name: z.string(), version: z.string() }),
  }),
  /** Inputs are being mounted, which may take long. */
  z.object({ type: z.literal('preparing') }),
  z.object({ type: z.literal('event'), name: z.string(), data: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('done'), reason: z.enum(['rested', 'terminated', 'stopped']) }),
  /** `is_told`: the session's log has the error already. */
  z.object({ type: z.literal('failed'), message: z.string(), is_told: z.boolean().optional() }),
])
export type ToSupervisor = z.infer<typeof ToSupervisor>

/** `other`: a message type that this version does not know, which is no error. */
export type ParsedMessage<T> = { message: T } | { other: string } | { broken: string }

export function parseMessage<T>(
  schema: z.ZodType<T>,
  types: readonly string[],
  line: string,
): ParsedMessage<T> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { broken: 'a line that is no JSON' }
  }
  const { success, data } = z.looseObject({ type: z.string() }).safeParse(value)
  if (!success) return { broken: 'a line that is no message' }
  if (!types.includes(data.type)) return { other: data.type }
  const read = parsedBy(schema, value)
  return read.ok
    ? { message: read.value }
    : { broken: `a message ${data.type} of the wrong form: ${read.problems}` }
}
