/** Writes a summary with the chosen strategy, then with the next one. Each attempt is recorded in the log. */
import type { ModelFailure, Usage } from '@steward/model/model.ts'
import { mayAsk } from '../retries.ts'
import type { KeptEvent, Turn, TurnStep } from '../turn.ts'
import type { SummaryAnswer } from './ask-summary.ts'
import { askForSummary } from './ask-summary.ts'
import { isolatedBasic, isolatedStructured } from './isolated-strategies.ts'
import type { StrategyName } from './settings.ts'
import type { SummaryStrategy, SummarySubject } from './strategy.ts'
import { summarize } from './summarize.ts'

const strategies: Record<StrategyName, SummaryStrategy> = {
  'isolated-basic': isolatedBasic,
  'isolated-structured': isolatedStructured,
  summarize,
}

const most = 3
/** With these failures the main request would fail too. It reports them, and no other strategy is tried. */
const hopeless: readonly ModelFailure['kind'][] = ['billing', 'authentication', 'refused_address']

/**
 * `threshold`: the trigger was reached. `overflow`: the provider refused the conversation, so it cannot be repeated in
 * a request for a summary either.
 */
export type CompactionReason = 'threshold' | 'overflow'

export type AttemptOutcome =
  /** The caller stores `end` together with the boundary. */
  | { kind: 'written'; strategy: StrategyName; text: string; end: KeptEvent }
  /** No attempt gave a summary. */
  | { kind: 'none' }
  | { kind: 'unavailable'; failure: ModelFailure }
  /** A person interrupted the turn, or the budget is reached. */
  | { kind: 'interrupted'; last: KeptEvent[] }

type AttemptPlan = { name: StrategyName; share: number }

export async function* attemptSummaries(
  turn: Turn,
  subject: SummarySubject,
  reason: CompactionReason,
): AsyncGenerator<TurnStep, AttemptOutcome, unknown> {
  const { strategy } = turn.compaction
  let plan: AttemptPlan | undefined = firstPlan(strategy, reason)
  for (let attempt = 1; plan && attempt <= most; attempt++) {
    const { name, share }: AttemptPlan = plan
    if (!(await mayAsk(turn))) return { kind: 'interrupted', last: [] }
    const startId = turn.newEventId()
    yield { type: 'keep', kept: [started(startId, name, reason)] }
    const transcriptTokens = subject.transcriptTokens * share
    const call = strategies[name]({ ...subject, transcriptTokens })
    const summary = await askForSummary(turn.model, { ...call, signal: turn.signal })
    const end = ended(turn, startId, summary.usage, summary.ok ? undefined : summary.why)
    if (turn.signal.aborted) return { kind: 'interrupted', last: [end] }
    if (summary.ok) return { kind: 'written', strategy: name, text: summary.text, end }
    yield { type: 'keep', kept: [end] }
    const { failure } = summary
    if (failure && hopeless.includes(failure.kind)) return { kind: 'unavailable', failure }
    plan = nextPlan({ name, share }, summary)
    if (plan && failure?.retryable) await turn.sleep(turn.retryDelaysMs[0] ?? 0, turn.signal)
    if (turn.signal.aborted) return { kind: 'interrupted', last: [] }
  }
  return { kind: 'none' }
}

/** A refused conversation cannot be replayed. */
const firstPlan = (strategy: StrategyName, reason: CompactionReason): AttemptPlan => ({
  name: strategy === 'summarize' && reason === 'overflow' ? 'isolated-basic' : strategy,
  share: 1,
})

/**
 * The next attempt: after a replay the conversation's text alone; after a text that was too long half of it; after a
 * temporary failure the same again.
 */
function nextPlan(
  { name, share }: AttemptPlan,
  { failure }: Extract<SummaryAnswer, { ok: false }>,
): AttemptPlan | undefined {
  if (name === 'summarize') return { name: 'isolated-basic', share }
  if (failure?.kind === 'context_overflow') return { name, share: share / 2 }
  return failure?.retryable ? { name, share } : undefined
}

const started = (id: string, strategy: string, reason: CompactionReason): KeptEvent => ({
  event: { id, type: 'span.compaction_summarize_start', strategy, reason },
})

const ended = (
  turn: Turn,
  startId: string,
  usage: Usage,
  error: string | undefined,
): KeptEvent => ({
  event: {
    id: turn.newEventId(),
    type: 'span.compaction_summarize_end',
    compaction_summarize_start_id: startId,
    is_error: error !== undefined,
    model_usage: usage,
    ...(error === undefined ? {} : { message: error }),
  },
})
