/** Runs the grader of an outcome. Its texts and tool calls stay out of the session's log; its requests are counted. */
import { emptyHistory, foldHistory, buildMessages } from '@steward/harness/history.ts'
import type { KeptEvent } from '@steward/harness/kept-event.ts'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import type { RunTurn, TurnEnd } from '@steward/harness/turn.ts'
import { onlyWhenFull } from '@steward/harness/compaction/settings.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { EventType, SessionFailure } from '@steward/protocol/events.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import { StorageError } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { appendInUnit } from '../../../sessions/log/append.ts'
import { outputStore } from '../../../sessions/rows/outputs.ts'
import {
  verdictRequest,
  graderSystem,
  graderTask,
  graderTools,
  readVerdict,
  verdictTool,
} from './grader.ts'
import type { GraderVerdict } from './grader.ts'
import { inspectByScript } from '../inspection.ts'
import type { EndedEvaluation } from '../observations.ts'
import { evaluationEnded } from '../observations.ts'
import type { EvaluationStep } from './start.ts'
import { hasBudgetLeft, noPrice, withPrices } from '../spending.ts'
import type { SessionLease } from '../steps.ts'
import type { TurnAssembly, DrainDeps, TurnSignals } from '../turn-deps.ts'

/** Interval of the events that report a running evaluation. */
const ongoingMs = 15_000
const maxRequests = 50
/** A verdict that cannot be read is asked for once more. */
const mostUnreadable = 2

const noSandbox = 'The agent has no tools that use a sandbox, so that no script can run in one.'

/**
 * `hasError`: a `session.error` in the log explains the missing verdict. `error`: a failure that is not in the log yet.
 */
export type EvaluationVerdict = GraderVerdict & {
  kind: 'verdict'
  hasError?: true
  error?: SessionFailure
}

/**
 * `interrupted`: the grader was stopped, for example by a person. `budget_reached`: the grader may make no model
 * request.
 */
export type Judgement = EvaluationVerdict | { kind: 'interrupted' } | { kind: 'budget_reached' }

type GraderTurn = Extract<TurnAssembly, { ok: true }>

const failure = (explanation: string): EvaluationVerdict => ({
  kind: 'verdict',
  result: 'failed',
  explanation,
})

const broken = (error: SessionFailure): EvaluationVerdict => ({
  ...failure(`The work could not be judged: ${error.message}`),
  hasError: true,
  error,
})

/** Appends events of the evaluation; undefined when another process has taken the session over. */
type KeepGraderEvents = (kept: readonly KeptEvent[]) => Promise<object | undefined>

/** `lost` and `left`: see `drainSession`. In both cases no verdict is stored, and another process judges the work again. */
export async function evaluateOutcome(
  deps: DrainDeps,
  lease: SessionLease,
  step: EvaluationStep,
  signals: TurnSignals,
): Promise<Judgement | 'lost' | 'left'> {
  await signals.slot.hold(signals.stopping)
  if (signals.stopping.aborted) return 'left'
  const stop = new AbortController()
  signals.interrupt(() => stop.abort())
  const { session } = lease
  const began = performance.now()
  const over = new AbortController()
  const signal = AbortSignal.any([stop.signal, signals.stopping, over.signal])
  try {
    const judgement = await graded(deps, lease, step, { signals, signal }).catch((error: unknown) =>
      brokenBy(deps, session, error),
    )
    const isLeft = signals.stopping.aborted && judgement !== 'lost'
    const end = isLeft ? 'left' : judgement
    evaluationEnded.tell({ result: resultOf(end), ms: performance.now() - began })
    return end
  } finally {
    over.abort('the evaluation is over')
  }
}

const resultOf = (end: Judgement | 'lost' | 'left'): EndedEvaluation['result'] => {
  if (typeof end === 'string') return end
  return end.kind === 'verdict' ? end.result : end.kind
}

async function graded(
  deps: DrainDeps,
  lease: SessionLease,
  step: EvaluationStep,
  within: Omit<GradingContext, 'assembled'>,
): Promise<Judgement | 'lost'> {
  const { tenant, session, fence } = lease
  const assembled = await deps.assemble({ tenant, session, generation: fence.generation })
  if (!assembled.ok) return broken(assembled.failure)
  try {
    const { price, name } = assembled.model
    if (step.isBudgeted && !price) return broken(noPrice(name))
    const inspection = fromJson(step.outcome.inspection)
    if (inspection?.type === 'script') {
      if (!assembled.sandbox) return failure(noSandbox)
      const verdict = await inspectByScript(await assembled.sandbox(), inspection, within.signal)
      return within.signal.aborted ? { kind: 'interrupted' } : { kind: 'verdict', ...verdict }
    }
    return await grade(deps, lease, step, { assembled, ...within })
  } finally {
    assembled.release()
  }
}

/** Shows a `TurnFailed` to the session unchanged, as `failedTurnBy` does. */
function brokenBy({ log }: DrainDeps, session: string, error: unknown): EvaluationVerdict {
  if (error instanceof StorageError) throw error
  if (error instanceof TurnFailed) return broken(error.failure)
  log.error('an evaluation failed', { error, session_id: session })
  return broken({
    type: 'unknown_error',
    message: 'the evaluation could not go on; the log of the server says why',
  })
}

type GradingContext = { assembled: GraderTurn; signals: TurnSignals; signal: AbortSignal }

async function grade(
  deps: DrainDeps,
  lease: SessionLease,
  step: EvaluationStep,
  { assembled, signals, signal }: GradingContext,
): Promise<Judgement | 'lost'> {
  const { database } = deps
  const { parts, sandbox } = assembled
  const { outcome } = step
  const keep = keeper(deps, lease, step, assembled)
  const outputs = await outputStore(database.read).shown(lease.tenant, lease.session)
  const task = graderTask({
    rubric: outcome.rubric,
    messages: buildMessages(parts.history),
    outputs,
  })
  let history = foldHistory(emptyHistory(), [task.event])
  let unreadable = 0
  for (;;) {
    const verdict: { read?: GraderVerdict } = {}
    const tools = [...(sandbox ? graderTools(sandbox, task.fence) : []), verdictTool(verdict)]
    const steps = deps.runTurn({
      ...parts,
      harness: 'default',
      compaction: onlyWhenFull,
      system: graderSystem,
      history,
      tools,
      servers: noServers,
      refusals: () => [],
      notices: () => [],
      changed: async () => [],
      announced: async () => [],
      cacheKey: `${lease.session}/grader`,
      maxRequests,
      open: [],
      signal,
      sleep: signals.slot.pause,
      isLeft: () => true,
      mayAsk: async () => !step.isBudgeted || hasBudgetLeft(database.read, lease),
    })
    const calls = verdictCalls()
    const end = await follow(deps, steps, {
      beat: () => keep([ongoing(step)]),
      async take(kept) {
        history = foldHistory(history, kept)
        unreadable += calls.unreadableIn(kept)
        return (await keep(kept)) ? verdict.read || unreadable >= mostUnreadable : 'lost'
      },
    })
    if (end === 'lost') return 'lost'
    if (signal.aborted) return { kind: 'interrupted' }
    if (verdict.read) return { kind: 'verdict', ...verdict.read }
    if (end !== 'enough' && end.stop.type !== 'end_turn') return unfinished(end)
    if (end !== 'enough') unreadable++
    if (unreadable >= mostUnreadable) return failure(readVerdict.unreadable)
    history = foldHistory(history, [verdictRequest()])
  }
}

/** The judgement of a grader that ended without a verdict. */
function unfinished({ stop, last }: TurnEnd): Judgement {
  if (stop.type === 'budget_reached') return { kind: 'budget_reached' }
  if (stop.type === 'refusal') return failure('The model declined to judge the work.')
  const error = last.flatMap(({ event }) => (event.type === 'session.error' ? event.error : []))
  const message = error.at(-1)?.message ?? 'the model could not be asked'
  return { ...failure(`The work could not be judged: ${message}`), hasError: true }
}

/** Follows the grader to its end, or until `take` has enough. `beat` is called while nothing comes. */
async function follow(
  { clock }: DrainDeps,
  steps: ReturnType<RunTurn>,
  to: { beat: KeepGraderEvents; take: (kept: readonly KeptEvent[]) => Promise<unknown> },
): Promise<TurnEnd | 'enough' | 'lost'> {
  const over = new AbortController()
  const pause = () => clock.sleep(ongoingMs, over.signal).then(() => 'beat' as const)
  let beating = pause()
  try {
    for (let coming = steps.next(); ;) {
      const next = await Promise.race([coming, beating])
      if (next === 'beat') {
        if (!(await to.beat([]))) return 'lost'
        beating = pause()
        continue
      }
      const kept = next.done ? next.value.last : next.value.type === 'keep' ? next.value.kept : []
      const taken = kept.length > 0 && (await to.take(kept))
      if (taken === 'lost') return 'lost'
      if (next.done) return next.value
      if (taken) return 'enough'
      coming = steps.next()
    }
  } finally {
    over.abort()
    await steps.return({ stop: { type: 'end_turn' }, last: [] })
  }
}

const ongoing = ({ outcome: { id: outcome_id, iteration } }: EvaluationStep): KeptEvent => ({
  event: { id: newId('event'), type: 'span.outcome_evaluation_ongoing', outcome_id, iteration },
})

/** Events of the grader's turn that the session's log gets unchanged. */
const shown: ReadonlySet<EventType> = new Set<EventType>([
  'session.error',
  'session.status_rescheduled',
  'session.status_running',
  'session.warning',
  'span.outcome_evaluation_ongoing',
])

/** Stores the usage of the grader's requests and the events that people see. */
function keeper(
  { database, clock }: DrainDeps,
  { tenant, session, fence }: SessionLease,
  { outcome }: EvaluationStep,
  { model }: GraderTurn,
): KeepGraderEvents {
  return async (kept) => {
    const entries = kept.flatMap(({ event }): KeptEvent[] => {
      if (shown.has(event.type)) return [{ event }]
      if (!('model_usage' in event)) return []
      const { is_error, model_usage } = event
      const of = {
        purpose: 'outcome_evaluation',
        outcome_evaluation_start_id: outcome.start_id,
      } as const
      return [
        { event: { id: newId('event'), type: 'aux.model_call', ...of, is_error, model_usage } },
      ]
    })
    if (entries.length === 0) return {}
    const at = { now: clock.now(), fence }
    const ref = { tenant, session }
    return appendInUnit(database, ref, withPrices(entries, model), at)
  }
}

/** Counts results of the verdict's tool that say that the verdict cannot be read. */
function verdictCalls() {
  const calls = new Set<string>()
  return {
    unreadableIn(kept: readonly KeptEvent[]): number {
      let count = 0
      for (const { event } of kept) {
        if (event.type === 'agent.tool_use' && event.name === readVerdict.tool) calls.add(event.id)
        const isAnswer = event.type === 'agent.tool_result' && calls.has(event.tool_use_id)
        if (isAnswer && event.is_error) count++
      }
      return count
    },
  }
}
