/** Plans the answer from the messages alone: the same history always gives the same answer. */
import type { Message, ModelFailure, ToolSpec } from '../model.ts'
import { offlineLesson, parsePlan, type OfflineStep } from './language.ts'

export type OfflineReply = {
  waitMs: number
  blocks: ReplyBlock[]
  outcome: { stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal' } | { failure: ModelFailure }
}
export type ReplyBlock =
  | { type: 'text' | 'thinking'; text: string }
  | { type: 'tool_call'; id: string; name: string; input: Record<string, unknown> }

type PlanResult = Extract<Message, { role: 'tool_result' }>

export function planReply(messages: readonly Message[], tools: readonly ToolSpec[]): OfflineReply {
  const asked = messages.findLastIndex((message) => message.role === 'user')
  const request = messages[asked]
  const text = request?.role === 'user' ? textOf(request.content) : ''
  const results = messages
    .slice(asked + 1)
    .filter((message): message is PlanResult => message.role === 'tool_result')
  const plan = parsePlan(text)
  if (plan === undefined) return ended([{ type: 'text', text: offlineLesson }])
  if ('mistake' in plan)
    return ended([{ type: 'text', text: `I cannot do that: ${plan.mistake}.` }])
  return walk(plan.steps, results, tools, `off_${asked}_`)
}

type CallStep = Extract<OfflineStep, { do: 'call' | 'run' | 'write' | 'read' }>

function isCall(step: OfflineStep): step is CallStep {
  return ['call', 'run', 'write', 'read'].includes(step.do)
}

/** The steps from the last call with a result to the next call without one. Earlier steps were answered already. */
function walk(
  steps: OfflineStep[],
  results: readonly PlanResult[],
  tools: readonly ToolSpec[],
  idPrefix: string,
): OfflineReply {
  const known = new Set(tools.map(({ name }) => name))
  const exists = (call: CallStep) => known.has(callFor(call).name)
  const missing = steps.filter(isCall).filter((call) => !exists(call))
  const possible = steps.filter((step) => !isCall(step) || exists(step))
  const reply: OfflineReply = { waitMs: 0, blocks: [], outcome: { stop: 'end_turn' } }
  for (const step of afterCalls(possible, results.length)) {
    if (isCall(step)) {
      const id = `${idPrefix}${results.length + 1}`
      reply.blocks.push({ type: 'tool_call', id, ...callFor(step) })
      return { ...reply, outcome: { stop: 'tool_use' } }
    }
    if (step.do === 'fail') return { ...reply, outcome: { failure: step.failure } }
    if (step.do === 'stop') return { ...reply, outcome: { stop: step.stop } }
    if (step.do === 'wait') reply.waitMs += step.ms
    else reply.blocks.push({ type: step.do === 'say' ? 'text' : 'thinking', text: step.text })
  }
  const names = missing.map((call) => callFor(call).name)
  const summary = summaryOf(results, names, tools)
  const said = reply.blocks.some((block) => block.type === 'text')
  if (summary !== '' || !said) reply.blocks.push({ type: 'text', text: summary || 'Done.' })
  return reply
}

function afterCalls(steps: OfflineStep[], count: number): OfflineStep[] {
  const calls = steps.flatMap((step, i) => (isCall(step) ? [i] : []))
  return steps.slice((calls[count - 1] ?? -1) + 1)
}

function callFor(step: CallStep) {
  switch (step.do) {
    case 'call':
      return { name: step.tool, input: step.input }
    case 'run':
      return { name: 'bash', input: { command: step.command } }
    case 'write':
      return { name: 'write', input: { file_path: step.path, content: step.content } }
    case 'read':
      return { name: 'read', input: { file_path: step.path } }
  }
}

const longestQuote = 2_000

function summaryOf(
  results: readonly PlanResult[],
  missing: string[],
  tools: readonly ToolSpec[],
): string {
  const told = results.map((result, i) => {
    const text = textOf(result.content).trim()
    const quote = text.length <= longestQuote ? text : `${text.slice(0, longestQuote)}…`
    const how = result.is_error ? 'failed' : 'gave'
    return quote === ''
      ? `${i + 1}. ${result.tool_name} ${how} nothing.`
      : `${i + 1}. ${result.tool_name} ${how}:\n\n${quote}`
  })
  const have = tools.length === 0 ? 'none' : tools.map((tool) => tool.name).join(', ')
  const lacking = [...new Set(missing)].map(
    (name) => `There is no tool named ${name}; I have: ${have}.`,
  )
  if (told.length === 0) return lacking.join('\n')
  return ['Done.', ...told, ...lacking].join('\n\n')
}

function ended(blocks: ReplyBlock[]): OfflineReply {
  return { waitMs: 0, blocks, outcome: { stop: 'end_turn' } }
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n')
}
