/** Settles tool calls: runs what may run, refuses what was denied, and says what waits for someone. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Kept, OpenCall, Tool, ToolResult, Turn, TurnStep } from './turn.ts'
import { textResult } from './tools/tool.ts'

export type Settling = Pick<
  OpenCall,
  'event_id' | 'name' | 'input' | 'decision' | 'deny_message'
> & { truncated?: boolean }

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
const validators = new WeakMap<object, ValidateFunction>()

/** Each result is kept as soon as it is there. Returns the ids of the calls that wait for someone else. */
export async function* settleCalls(
  turn: Turn,
  tools: ReadonlyMap<string, Tool>,
  calls: readonly Settling[],
): AsyncGenerator<TurnStep, { waiting: string[]; unkept: Kept[]; settled: Kept[] }, void> {
  const waiting: string[] = []
  const running = new Map<string, Promise<Kept>>()
  const settled: Kept[] = []
  for (const call of calls) {
    const tool = tools.get(call.name)
    if (waits(call, tool)) waiting.push(call.event_id)
    else running.set(call.event_id, result(turn, tool, call))
  }
  while (running.size > 0) {
    const kept = await Promise.race(running.values())
    if (kept.event.type === 'agent.tool_result') running.delete(kept.event.tool_use_id)
    settled.push(kept)
    if (turn.signal.aborted) {
      // The end of the turn keeps them, in one commit with the idle.
      return { waiting: [], unkept: [kept, ...(await Promise.all(running.values()))], settled }
    }
    yield { type: 'keep', kept: [kept] }
  }
  return { waiting, unkept: [], settled }
}

function waits(call: Settling, tool: Tool | undefined): boolean {
  if (call.decision === 'wait') return true
  return call.decision === 'run' && !call.truncated && tool?.runs === 'client'
}

async function result(turn: Turn, tool: Tool | undefined, call: Settling): Promise<Kept> {
  const { content, is_error } = await outcome(turn, tool, call)
  return {
    event: {
      id: turn.newEventId(),
      type: 'agent.tool_result',
      tool_use_id: call.event_id,
      content,
      is_error,
    },
  }
}

async function outcome(turn: Turn, tool: Tool | undefined, call: Settling): Promise<ToolResult> {
  if (call.truncated)
    return textResult(
      'the answer was cut before the input of this call was whole; nothing was run',
      true,
    )
  if (call.decision === 'deny') {
    const why = call.deny_message ? `: ${call.deny_message}` : ''
    return textResult(`the call was denied by the user and did not run${why}`, true)
  }
  if (!tool) return textResult(`there is no tool named ${call.name}`, true)
  if (call.decision === 'lost' && tool.repeat === 'never') {
    return textResult(
      'the process that ran this call ended before its result was kept; it may have run in part or whole',
      true,
    )
  }
  if (turn.signal.aborted) return textResult('interrupted before it was run', true)
  const wrong = complaint(tool, call.input)
  if (wrong) return textResult(wrong, true)
  try {
    return await tool.run(call.input, { signal: turn.signal })
  } catch (error) {
    turn.report(error)
    return textResult(
      'the tool failed for a reason that is not yours; the log of the server has it',
      true,
    )
  }
}

/** What is wrong with the input, in words the model can act on. */
function complaint(tool: Tool, input: Record<string, unknown>): string | undefined {
  let validate = validators.get(tool.input_schema)
  if (!validate) {
    try {
      validate = ajv.compile(tool.input_schema)
    } catch {
      // A schema that cannot be compiled checks nothing; its tool is answered by whoever declared it.
      validate = ajv.compile({})
    }
    validators.set(tool.input_schema, validate)
  }
  if (validate(input)) return undefined
  return `the input does not fit the schema of ${tool.name}: ${ajv.errorsText(validate.errors, { dataVar: 'input' })}`
}
