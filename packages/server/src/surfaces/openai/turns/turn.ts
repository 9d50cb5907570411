/** Turns, folded from the log of a session. Every reader gets the same turns at any time. */
import { parseObject } from '@steward/base/json-object.ts'
import type { EventFields, EventType, SessionError, StopReason } from '@steward/protocol/events.ts'
import type { OpenAIUsage } from '@steward/protocol/openai/sessions.ts'
import type { OpenAITurn } from '@steward/protocol/openai/turns.ts'
import type { SessionUsage } from '@steward/protocol/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { unixSeconds } from '../page.ts'

/** Events that begin, change and end turns of a session. */
const sessionTurnTypes = [
  'session.status_run_started',
  'user.message',
  'user.define_outcome',
  'user.interrupt',
  'session.status_running',
  'session.error',
  'session.warning',
  'session.usage',
  'session.status_idle',
  'session.status_terminated',
] as const satisfies readonly EventType[]

/**
 * Events that begin, change and end turns of a child thread. The tokens of the thread are counted from its requests.
 */
const threadTurnTypes = [
  'agent.thread_message_received',
  'user.interrupt',
  'session.thread_status_running',
  'session.error',
  'session.warning',
  'span.model_request_end',
  'span.compaction_summarize_end',
  'session.thread_status_idle',
  'session.thread_status_terminated',
] as const satisfies readonly EventType[]

type TurnType = (typeof sessionTurnTypes)[number] | (typeof threadTurnTypes)[number]

/** `thread`: a child thread, or null for the session. */
export const turnTypesOf = (thread: string | null): readonly TurnType[] =>
  thread === null ? sessionTurnTypes : threadTurnTypes

export type TokenCounts = Pick<
  SessionUsage,
  'input_tokens' | 'output_tokens' | 'cache_read_input_tokens'
> & { cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number } }

export const noTokens: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
}

/**
 * The owner of the turns in a log. `agent`: the agent of the session. `thread`: a child thread, or null for the session
 * itself.
 */
export type LogOwner = { session: string; agent: string; thread: string | null }

export type LoggedTurn = {
  /** The id of the event that began the turn, as a rule the turn's first message. */
  id: string
  /** The `seq` of the turn's first event, and of its last. */
  first: number
  last: number | null
  status: OpenAITurn['status']
  error: OpenAITurn['error']
  createdAt: string
  startedAt: string | null
  completedAt: string | null
  /** Tokens of the session before the turn; undefined when the fold has not seen them. */
  before: TokenCounts | undefined
  after: TokenCounts | undefined
}

export type TurnRow = Pick<EventRow, 'seq' | 'id' | 'type' | 'created_at' | 'data'>
/** A change that an event makes to the turn. */
export type TurnChange = 'created' | 'in_progress' | 'waiting' | 'ended'

const noTurn: Pick<
  LoggedTurn,
  'last' | 'status' | 'error' | 'startedAt' | 'completedAt' | 'after'
> = {
  last: null,
  status: 'queued',
  error: null,
  startedAt: null,
  completedAt: null,
  after: undefined,
}

/** What a turn has seen. `isCut`: its last answer was cut at the output limit of the model. */
type SeenInTurn = { failure?: SessionError; isInterrupted: boolean; isCut: boolean }
const nothingSeen: SeenInTurn = { isInterrupted: false, isCut: false }

/**
 * `thread`: as in `turnTypesOf`. `open`: the turn that is open before the first row. `usage`: the session's usage
 * before the first row.
 */
export function turnFold(
  thread: string | null,
  start: { open?: LoggedTurn | undefined; usage?: TokenCounts | undefined } = {},
) {
  const types: readonly string[] = turnTypesOf(thread)
  const isTurnType = (type: string): type is TurnType => types.includes(type)
  let { open } = start
  let usage = start.usage ?? (thread === null ? undefined : noTokens)
  let runStarted: TurnRow | undefined
  let seen = nothingSeen

  function begin(row: TurnRow): void {
    const first = runStarted?.seq ?? row.seq
    open = { ...noTurn, id: row.id, first, createdAt: row.created_at, before: usage }
    seen = nothingSeen
  }

  function end(
    row: TurnRow,
    status: LoggedTurn['status'],
    error: LoggedTurn['error'],
  ): TurnChange[] {
    if (open) Object.assign(open, { last: row.seq, completedAt: row.created_at, status, error })
    runStarted = undefined
    return ['ended']
  }

  function idle(row: TurnRow): TurnChange[] {
    if (!open) return []
    const { stop_reason } = parseObject(row.data) as { stop_reason: StopReason }
    if (stop_reason.type === 'requires_action') {
      open.status = 'waiting'
      return ['waiting']
    }
    const error = seen.isCut ? cutError : errorOf(stop_reason, seen.failure)
    if (seen.isInterrupted) return end(row, 'cancelled', null)
    return end(row, error ? 'failed' : 'completed', error)
  }

  function run(row: TurnRow): TurnChange[] {
    const changes: TurnChange[] = open ? [] : ['created']
    if (!open) begin(runStarted ?? row)
    if (open?.status === 'in_progress') return changes
    if (open)
      Object.assign(open, { status: 'in_progress', startedAt: open.startedAt ?? row.created_at })
    return [...changes, 'in_progress']
  }

  const fail = ({ data }: TurnRow): TurnChange[] =>
    note({ failure: (parseObject(data) as { error: SessionError }).error })

  function count({ data }: TurnRow): TurnChange[] {
    usage = (parseObject(data) as { usage: TokenCounts }).usage
    if (open) open.after = usage
    return []
  }

  function input(row: TurnRow): TurnChange[] {
    seen = { ...seen, isCut: false }
    if (open) return []
    begin(row)
    return ['created']
  }

  function request({ data }: TurnRow): TurnChange[] {
    const { model_usage: spent } = parseObject(data) as { model_usage: RequestUsage }
    usage = withRequest(usage ?? noTokens, spent)
    if (open) open.after = usage
    return []
  }

  function note(of: Partial<SeenInTurn>): TurnChange[] {
    seen = { ...seen, ...of }
    return []
  }

  const terminated = (row: TurnRow): TurnChange[] => (open ? end(row, 'cancelled', null) : [])

  const steps: Record<TurnType, (row: TurnRow) => TurnChange[]> = {
    'session.status_run_started'(row) {
      if (!open) runStarted = row
      return []
    },
    'user.message': input,
    'user.define_outcome': input,
    'user.interrupt': () => note({ isInterrupted: true }),
    'session.status_running': run,
    'session.error': fail,
    'session.warning': (row) => (isOfCutAnswer(row) ? note({ isCut: true }) : []),
    'session.usage': count,
    'session.status_idle': idle,
    'session.status_terminated': terminated,
    'agent.thread_message_received': input,
    'session.thread_status_running': run,
    'span.model_request_end': request,
    'span.compaction_summarize_end': request,
    'session.thread_status_idle': idle,
    'session.thread_status_terminated': terminated,
  }

  return {
    /** The open turn, or the turn that ended with the last row. */
    turn: () => open,
    usage: () => usage,
    /** Returns the changes that the row makes. The next row forgets a turn that has ended. */
    take(row: TurnRow): TurnChange[] {
      if (open && open.last !== null) open = undefined
      return isTurnType(row.type) ? steps[row.type](row) : []
    },
  }
}

/** True for the warning behind an answer that was cut at the output limit of its model. */
export const isOfCutAnswer = ({ type, data }: Pick<TurnRow, 'type' | 'data'>): boolean =>
  type === 'session.warning' && parseObject(data)['reason'] === 'max_output_tokens'

const cutError = {
  code: 'max_output_tokens',
  message: 'The answer was cut at the output limit of its model.',
}

type RequestUsage = EventFields['span.model_request_end']['model_usage']

const withRequest = (before: TokenCounts, spent: RequestUsage): TokenCounts => ({
  input_tokens: before.input_tokens + spent.input_tokens,
  output_tokens: before.output_tokens + spent.output_tokens,
  cache_read_input_tokens: before.cache_read_input_tokens + spent.cache_read_input_tokens,
  cache_creation: {
    ...before.cache_creation,
    ephemeral_5m_input_tokens:
      before.cache_creation.ephemeral_5m_input_tokens + spent.cache_creation_input_tokens,
  },
})

const codes: Partial<Record<SessionError['type'], string>> = {
  model_overloaded_error: 'server_overloaded',
  model_rate_limited_error: 'rate_limit_exceeded',
  model_request_failed_error: 'invalid_request',
  billing_error: 'billing_not_active',
  compaction_limit_reached_error: 'context_length_exceeded',
  mcp_connection_failed_error: 'connection_failed',
  mcp_authentication_failed_error: 'authentication_error',
}

function errorOf(stop: StopReason, failure: SessionError | undefined): OpenAITurn['error'] {
  switch (stop.type) {
    case 'budget_reached':
      return { code: 'session_budget_exceeded', message: 'The session has spent its budget.' }
    case 'refusal':
      return { code: 'misalignment_policy_violation', message: 'The model refused to answer.' }
    case 'retries_exhausted':
      return failure
        ? { code: codes[failure.type] ?? 'internal_error', message: failure.message }
        : { code: 'internal_error', message: 'The turn failed.' }
    default:
      return null
  }
}

/** Input tokens include all tokens of the input, cached or not. */
export function showUsage(now: TokenCounts, before: TokenCounts = noTokens): OpenAIUsage {
  const cached = now.cache_read_input_tokens - before.cache_read_input_tokens
  const input_tokens = inputOf(now) - inputOf(before)
  const output_tokens = now.output_tokens - before.output_tokens
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: cached },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  }
}

const inputOf = ({ input_tokens, cache_read_input_tokens, cache_creation }: TokenCounts): number =>
  input_tokens +
  cache_read_input_tokens +
  cache_creation.ephemeral_5m_input_tokens +
  cache_creation.ephemeral_1h_input_tokens

export const usageOfTurn = ({ after, before }: LoggedTurn): OpenAIUsage | null =>
  after ? showUsage(after, before) : null

export const showTurn = (turn: LoggedTurn, { session, agent, thread }: LogOwner): OpenAITurn => ({
  id: turn.id,
  object: 'agent.session.turn',
  session_id: session,
  agent_id: thread ?? agent,
  subagent_id: thread,
  status: turn.status,
  error: turn.error,
  usage: turn.last === null ? null : usageOfTurn(turn),
  created_at: unixSeconds(turn.createdAt),
  started_at: turn.startedAt === null ? null : unixSeconds(turn.startedAt),
  completed_at: turn.completedAt === null ? null : unixSeconds(turn.completedAt),
})
