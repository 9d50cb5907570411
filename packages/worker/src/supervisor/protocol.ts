/** What a supervisor and a harness say to each other, one JSON object a line. docs/supervisor-protocol.md */
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
  /** Absolute, there, and kept for the next work of the same session on this machine. */
  workdir: z.string(),
  outputs: z.string(),
  /** A third such folder, which nothing of the session writes to; for what is laid out beside the workspace. */
  inputs: z.string().optional(),
  /** A fourth, like `workdir` and `outputs`: `/mnt/user` of the session. */
  user: z.string().optional(),
  /** Whether `workdir` is as an earlier harness of the session left it, here or elsewhere. */
  is_known: z.boolean().optional(),
  /** For the agent, with the first result. */
  notice: z.string().optional(),
  /** For how long the lease holds, unless `lease` says more; without it the harness watches none. */
  lease_ms: z.number().int().nonnegative().optional(),
  /** How long the session may rest before the harness is done. */
  idle_ms: z.number().int().positive(),
  /** The operator's, for this harness; none of the supervisor's business. */
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
  /** The lease was extended: it holds for so long from now on. */
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
  /** Inputs are being laid out, which takes its time. */
  z.object({ type: z.literal('preparing') }),
  z.object({ type: z.literal('event'), name: z.string(), data: z.record(z.string(), z.unknown()) }),
  z.object({ type: z.literal('done'), reason: z.enum(['rested', 'terminated', 'stopped']) }),
  /** `is_told`: the session's log has it already. */
  z.object({ type: z.literal('failed'), message: z.string(), is_told: z.boolean().optional() }),
])
export type ToSupervisor = z.infer<typeof ToSupervisor>

/** `other`: a type that this version does not know, which is no mistake. */
export type ParsedMessage<T> = { message: T } | { other: string } | { broken: string }

export function hear<T>(
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
  const read = schema.safeParse(value)
  return read.success
    ? { message: read.data }
    : { broken: `a message ${data.type} of the wrong form: ${z.prettifyError(read.error)}` }
}
