/** Settles tool calls: runs allowed calls, refuses denied ones, and reports which calls wait. */
import type { ModelToolCall } from './answer.ts'
import { buildResultEvent } from './call-events.ts'
import { withRefusals } from './refusals.ts'
import { toolCallEnded } from './observations.ts'
import { inputProblem } from './tools/input.ts'
import { asksFirst } from './tools/permission.ts'
import type { Tool, ToolResult } from './tools/tool.ts'
import { textResult } from './tools/tool.ts'
import type { SessionFailure } from '@steward/protocol/events.ts'
import type { CallEffect } from './effects.ts'
import type { KeepReply, KeptEvent, OpenCall, Turn, TurnStep } from './turn.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'

type CallTools = ReadonlyMap<string, Tool>

/**
 * Sorts the calls of an answer. Calls that cannot run, whatever anyone decides, are answered at once, in the commit
 * that records them.
 */
export async function sortCalls(
  turn: Turn,
  tools: CallTools,
  made: readonly ModelToolCall[],
): Promise<{ refused: KeptEvent[]; calls: OpenCall[] }> {
  const refused: KeptEvent[] = []
  const calls: OpenCall[] = []
  for (const call of made) {
    const { event_id, name, input } = call
    const tool = tools.get(name)
    const why = call.unread ?? (await impossible(name, tool, input))
    const waits = (tool && tool.runs !== 'here') || asksFirst(tool)
    if (why) refused.push(buildResultEvent(turn, call, tool, textResult(why, true)))
    else calls.push({ event_id, name, input, decision: waits ? 'wait' : 'run' })
  }
  return { refused, calls }
}

/** The reason why a call cannot run, as a sentence for the model. Inputs for clients are not checked. */
async function impossible(
  name: string,
  tool: Tool | undefined,
  input: Record<string, unknown>,
): Promise<string | undefined> {
  if (!tool) return `there is no tool named ${name}`
  return tool.input === 'passed' ? undefined : inputProblem(tool, input)
}

export type CallOutcomes = {
  /** Ids of the calls that wait for a person, a client or a worker. */
  waiting: string[]
  /** Results that came after the signal had aborted; they are stored with the end of the turn. */
  unkept: KeptEvent[]
  kept: KeptEvent[]
  /** The reason why the turn cannot continue. The results are stored all the same. */
  failure?: SessionFailure
  /** Id of the next request's `span.model_request_start`, when it is stored already. */
  begun: string | undefined
}

/**
 * Stores each result as soon as it comes. The last result shares its commit with the start of the next model request.
 * `startNext` returns that start when nothing comes before the request.
 */
export async function* settleCalls(
  turn: Turn,
  tools: CallTools,
  calls: readonly OpenCall[],
  startNext: () => KeptEvent | undefined,
): AsyncGenerator<TurnStep, CallOutcomes, KeepReply> {
  const waiting = calls.filter((call) => call.decision === 'wait').map((call) => call.event_id)
  const left = new AbortController()
  const signal = AbortSignal.any([turn.signal, left.signal])
  const running = start(turn, tools, calls, signal)
  const kept: KeptEvent[] = []
  let failure: SessionFailure | undefined
  let begun: string | undefined
  try {
    while (running.size > 0) {
      const { id, results, failure: found, effect, refuse } = await Promise.race(running.values())
      running.delete(id)
      failure ??= found
      if (turn.signal.aborted) {
        const others = await Promise.all(running.values())
        const unkept = [{ results, effect, refuse }, ...others].flatMap((run) =>
          run.effect ? run.refuse('interrupted before it was run') : run.results,
        )
        return { waiting, unkept, kept, begun: undefined }
      }
      const isLast = running.size === 0 && waiting.length === 0 && !failure
      const next = isLast ? startNext() : undefined
      begun = next?.event.id
      const withNext = (some: KeptEvent[]) => (next ? [...some, next] : some)
      if (!effect) {
        kept.push(...results)
        yield { type: 'keep', kept: withNext(results) }
        continue
      }
      const reply = yield { type: 'keep', kept: withNext(results), effect }
      if (reply && 'refused' in reply) {
        const refused = refuse(reply.refused)
        kept.push(...refused)
        yield { type: 'keep', kept: withNext(refused) }
      } else kept.push(...results, ...(reply?.added ?? []))
    }
    return { waiting, unkept: [], kept, begun, ...(failure && { failure }) }
  } finally {
    left.abort()
    await Promise.all(running.values())
  }
}

/** `results`: the call's result, and further events to store with it. `refuse`: the same when its effect is refused. */
type CallRun = {
  id: string
  results: KeptEvent[]
  effect?: CallEffect | undefined
  refuse: (why: string) => KeptEvent[]
  failure?: SessionFailure | undefined
}

/**
 * Starts all calls at once. A call that changes the sandbox waits for the sandbox calls before it, and the sandbox
 * calls after it wait for it. No promise rejects.
 */
function start(
  turn: Turn,
  tools: CallTools,
  calls: readonly OpenCall[],
  signal: AbortSignal,
): Map<string, Promise<CallRun>> {
  const running = new Map<string, Promise<CallRun>>()
  let change: Promise<unknown> = Promise.resolve()
  let reads: Promise<unknown>[] = []
  for (const call of calls) {
    if (call.decision === 'wait') continue
    const tool = tools.get(call.name)
    const begin = async (): Promise<CallRun> => {
      const began = performance.now()
      const outcome = await attempt(turn, () => outcomeOf(turn, tool, call, signal))
      toolCallEnded.tell({
        tool: call.name,
        callId: call.event_id,
        conversation: turn.cacheKey,
        isError: outcome.result.is_error,
        ms: performance.now() - began,
      })
      const { result, warnings } = withRefusals(turn, call.event_id, outcome.result)
      const results = [buildResultEvent(turn, call, tool, result), ...warnings]
      const refuse = (why: string) => [buildResultEvent(turn, call, tool, textResult(why, true))]
      const { effect } = outcome.result
      return { id: call.event_id, results, effect, refuse, failure: outcome.failure }
    }
    if (tool?.sandbox === 'changed') {
      const run = Promise.all([change, ...reads]).then(begin)
      change = run
      reads = []
      running.set(call.event_id, run)
    } else if (tool?.sandbox === 'read') {
      const run = change.then(begin)
      reads.push(run)
      running.set(call.event_id, run)
    } else running.set(call.event_id, begin())
  }
  return running
}

async function outcomeOf(
  turn: Turn,
  tool: Tool | undefined,
  call: OpenCall,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (call.decision === 'deny') {
    const why = call.deny_message ? `: ${call.deny_message}` : ''
    return textResult(`the call was denied by the user and did not run${why}`, true)
  }
  if (call.decision === 'lost' && tool?.repeat !== 'safe') return textResult(lost, true)
  const why = await impossible(call.name, tool, call.input)
  if (!tool || why) return textResult(why ?? '', true)
  if (signal.aborted) return textResult('interrupted before it was run', true)
  const output = turn.output?.(call.event_id)
  const result = await tool.run(call.input, { signal, call: call.event_id, output })
  const changes = tool.sandbox === 'changed' ? await turn.changed() : []
  const lines = [...changes, ...(await turn.announced())]
  if (lines.length === 0) return result
  return { ...result, content: [...result.content, { type: 'text', text: lines.join('\n') }] }
}

/** An error becomes a result. A `TurnFailed` also ends the turn. */
async function attempt(
  turn: Turn,
  run: () => Promise<ToolResult>,
): Promise<{ result: ToolResult; failure?: SessionFailure }> {
  try {
    return { result: await run() }
  } catch (error) {
    if (error instanceof TurnFailed) {
      const { failure } = error
      return { result: textResult(failure.message, true), failure }
    }
    turn.report(error)
    return { result: textResult(failed, true) }
  }
}

const lost =
  'the process that ran this call ended before its result was kept; it may have run in part or whole'
const failed = 'the tool failed for a reason that is not yours; the log of the server has it'
