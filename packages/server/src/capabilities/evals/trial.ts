/**
 * Runs one trial, from the creation of its session to its scores. Each step is one commit that changes the trial's row
 * and the session, so another process continues where one died, and no step happens twice.
 */
import { iso } from '@steward/base/time.ts'
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { Score } from '@steward/protocol/evals.ts'
import type { Grader } from '@steward/protocol/graders.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { Inspection } from '../../ground/database/tables/outcomes.ts'
import { createSession } from '../../sessions/create.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { beginInspection } from '../../sessions/events/inspect.ts'
import type { Head } from '../../sessions/log/head.ts'
import { outcomeStore } from '../../sessions/rows/outcomes.ts'
import { toSessionCreate } from './create.ts'
import type { TrialEvidence } from './grade-trial.ts'
import { gradeTrial, UngradableError } from './grade-trial.ts'
import type { MatchText } from './text-matchers.ts'
import { createMatcher } from './text-matchers.ts'
import type { ResultRow } from './store.ts'
import { answersFor, callsForPeople } from './answer-lookup.ts'
import type { TrialEnd, TrialContext, EvalDeps } from './end-trial.ts'
import { endTrial, trialError, findTrialForUpdate, settleTrial, stopTrial } from './end-trial.ts'
import { readTrialEvidence } from './evidence.ts'
import { lastError } from '../../sessions/log/read-all.ts'
import type { EndedInspection } from './inspections.ts'
import { graderInspection, isInspecting, scoreInspection, setupInspection } from './inspections.ts'
import { whenResting } from '../../sessions/log/await-resting.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import { rows } from '../../ground/database/rows.ts'

/** The next step of a trial whose session rests. */
type NextTrialStep =
  | { kind: 'post'; events: ClientEvent[]; posted: number }
  | { kind: 'inspect'; inspection: Inspection }
  | { kind: 'end'; end: TrialEnd }
  /** The session has work by now. */
  | { kind: 'wait' }

/** Runs a trial to its end, or until the signal aborts. */
export async function runTrial(
  deps: EvalDeps,
  context: TrialContext,
  queued: ResultRow,
): Promise<void> {
  const { signal } = context
  const began = queued.status === 'queued' ? await beginTrial(deps, context, queued) : queued
  if (!began) return
  let row = began
  while (!signal.aborted) {
    const session = row.session_id
    if (session === null) return
    const head = await restOf(deps, context, row, session)
    if (head === undefined) return
    if (head === 'late') {
      const message = `the trial took longer than ${context.run.spec.timeout_ms} ms`
      await stopTrial(deps, context, row, trialError('timeout', message))
      return
    }
    if (context.canceled.aborted) {
      await stopTrial(deps, context, row, { status: 'canceled' })
      return
    }
    const next = await nextOf(deps, context, row, session, head)
    if (next.kind === 'end') {
      await settleTrial(deps, context, row, next.end)
      return
    }
    if (next.kind === 'wait') continue
    const current = row
    const further = await takeStep(deps, context, row, () =>
      next.kind === 'post'
        ? post(deps, context, current, session, next)
        : inspect(deps, context, current, session, next.inspection),
    )
    if (!further) return
    row = further
  }
}

const messagesOf = ({ input }: Sample): ClientEvent[] =>
  (typeof input === 'string' ? [input] : input).map((message) =>
    typeof message === 'string'
      ? { type: 'user.message' as const, content: [{ type: 'text' as const, text: message }] }
      : message,
  )

/** Creates the session with its first message. */
async function beginTrial(
  deps: EvalDeps,
  { db, run, sample }: TrialContext,
  queued: ResultRow,
): Promise<ResultRow | undefined> {
  const { clock, limits } = deps
  const { tenant_id: tenant } = run
  const [first] = messagesOf(sample)
  const setup = setupInspection(sample)
  const id = newId('session')
  const body = {
    ...toSessionCreate(run.spec),
    title: `${run.name ?? 'Eval'}: ${queued.sample_id}`.slice(0, 1024),
    metadata: { eval_run_id: run.id, eval_result_id: queued.id },
    initial_events: first?.type === 'user.message' && !setup ? [first] : [],
  }
  const countSession = await limits.quotas.daily(tenant)
  const actor = { type: 'eval_run', id: run.id, name: run.name } as const
  try {
    return await db.write(async (tx) => {
      const row = await findTrialForUpdate(tx, queued)
      if (!row) return undefined
      const now = clock.now()
      await countSession(tx)
      await createSession(tx, tenant, body, { ...deps, actor, id, now })
      const columns = { status: 'running', session_id: id, started_at: iso(now) } as const
      if (setup) await beginInspection(tx, { tenant, session: id }, setup, now)
      const step = setup ? { posted: 0, inspected: 1 } : { posted: 1, inspected: 0 }
      return rows(tx, 'eval_results').update(row, { ...columns, step })
    })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    await endTrial(deps, db, queued, trialError('session_not_created', error.message))
    return undefined
  }
}

/** Waits for rest: the session's head, `late` after the time limit, or undefined when the signal aborts. */
async function restOf(
  { bus, clock }: EvalDeps,
  { db, run, signal, canceled }: TrialContext,
  { tenant_id: tenant, started_at }: ResultRow,
  session: string,
): Promise<Head | 'late' | undefined> {
  const untilMs = Date.parse(started_at ?? '') + run.spec.timeout_ms
  const context = { read: db.read, bus, tenant, session, clock }
  return whenResting(context, {
    untilMs,
    signal,
    early: canceled,
    /** A session whose calls all wait for its worker goes on with the worker's results. */
    goesOn: async (head) =>
      stopOf(head)?.type === 'requires_action' &&
      (await callsForPeople(db.read, { tenant, session })).length === 0,
  })
}

const stopOf = ({ stop_reason }: Head) => (stop_reason === null ? undefined : fromJson(stop_reason))

async function nextOf(
  { matches }: EvalDeps,
  { db, run, sample }: TrialContext,
  { tenant_id: tenant, step }: ResultRow,
  session: string,
  head: Head,
): Promise<NextTrialStep> {
  if (head.status !== 'idle')
    return { kind: 'end', end: trialError('session_ended', `the session is ${head.status}`) }
  const { setup, rest } = await inspectionsOf(db.read, { tenant, session }, sample, step)
  if (step.posted === 0 && setup?.result !== 'satisfied')
    return {
      kind: 'end',
      end: trialError('setup_failed', setup?.explanation ?? 'it was interrupted'),
    }
  if (rest.length === 0 && step.posted > 0) {
    const next = await stepAfterTurn(db.read, { tenant, session }, head, { sample, step })
    if (next) return next
  }
  const message = messagesOf(sample)[step.posted]
  if (message) return { kind: 'post', events: [message], posted: step.posted + 1 }
  const graders = [...run.spec.graders, ...(sample.graders ?? [])]
  const grader = graders.filter(isInspecting)[rest.length]
  if (grader) return { kind: 'inspect', inspection: graderInspection(grader) }
  const trial = await readTrialEvidence(db.read, { tenant, session }, sample)
  const match = createMatcher(matches, tenant)
  return { kind: 'end', end: await scoreTrial(trial, graders, rest, match) }
}

/** The results of the trial's setup and of its inspecting graders. */
async function inspectionsOf(
  read: Reads,
  { tenant, session }: SessionRef,
  sample: Sample,
  step: ResultRow['step'],
): Promise<{ setup: EndedInspection | undefined; rest: EndedInspection[] }> {
  if (step.inspected === 0) return { setup: undefined, rest: [] }
  const ended = await outcomeStore(read).inspections(tenant, session)
  if (!setupInspection(sample)) return { setup: undefined, rest: ended }
  return { setup: ended[0], rest: ended.slice(1) }
}

/** The end of a trial with its scores. `inspected`: the results of its inspecting graders, in order. */
async function scoreTrial(
  trial: TrialEvidence,
  graders: readonly Grader[],
  inspected: readonly EndedInspection[],
  match: MatchText,
): Promise<TrialEnd> {
  const inspecting = graders.filter(isInspecting)
  try {
    const scores: Score[] = []
    for (const each of graders)
      scores.push(
        isInspecting(each)
          ? scoreInspection(each, inspected[inspecting.indexOf(each)])
          : await gradeTrial(each, trial, match),
      )
    const status = scores.every(({ passed }) => passed) ? 'passed' : 'failed'
    return { status, scores, answer: trial.answer }
  } catch (error) {
    if (!(error instanceof UngradableError)) throw error
    const failure = { type: 'grader_failed', message: error.message }
    return { status: 'errored', error: failure, answer: trial.answer }
  }
}

/** The next step after a turn that did not simply end. */
async function stepAfterTurn(
  read: Reads,
  ref: SessionRef,
  head: Head,
  { sample, step }: { sample: Sample; step: ResultRow['step'] },
): Promise<NextTrialStep | undefined> {
  switch (stopOf(head)?.type) {
    case 'requires_action': {
      const calls = await callsForPeople(read, ref)
      if (calls.length === 0) return { kind: 'wait' }
      const found = answersFor(calls, sample)
      if (found.ok) return { kind: 'post', events: found.events, posted: step.posted }
      return { kind: 'end', end: trialError('needs_input', found.message) }
    }
    case 'retries_exhausted':
      return { kind: 'end', end: trialError('turn_failed', await lastError(read, ref)) }
    case 'budget_reached':
      return { kind: 'end', end: trialError('budget_reached', 'the trial has reached its budget') }
    default:
      return undefined
  }
}

/** The row after the step; undefined when the step has ended the trial, or when another process changed the trial. */
async function takeStep(
  deps: EvalDeps,
  context: TrialContext,
  row: ResultRow,
  step: () => Promise<ResultRow | undefined>,
): Promise<ResultRow | undefined> {
  try {
    return await step()
  } catch (error) {
    // The session refuses the step: a file of the message is missing, or somebody works in the session.
    if (!(error instanceof PlatformError)) throw error
    await settleTrial(deps, context, row, trialError('step_refused', error.message))
    return undefined
  }
}

async function inspect(
  { clock }: EvalDeps,
  { db }: TrialContext,
  row: ResultRow,
  session: string,
  inspection: Inspection,
): Promise<ResultRow | undefined> {
  const { tenant_id: tenant } = row
  return db.write(async (tx) => {
    const taken = await findTrialForUpdate(tx, row)
    if (!taken) return undefined
    await beginInspection(tx, { tenant, session }, inspection, clock.now())
    const step = { ...taken.step, inspected: taken.step.inspected + 1 }
    return rows(tx, 'eval_results').update(taken, { step })
  })
}

async function post(
  { clock }: EvalDeps,
  { db }: TrialContext,
  row: ResultRow,
  session: string,
  { events, posted }: Extract<NextTrialStep, { kind: 'post' }>,
): Promise<ResultRow | undefined> {
  const { tenant_id: tenant } = row
  return db.write(async (tx) => {
    const taken = await findTrialForUpdate(tx, row)
    if (!taken) return undefined
    await postEvents(tx, tenant, session, events, clock.now())
    const step = { ...taken.step, posted }
    return rows(tx, 'eval_results').update(taken, { step })
  })
}
