/** Chat completions, as many servers speak them. */
import type { JsonObject } from '../documents.ts'
import { type ChatCall, callSlots } from './chat-calls.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import {
  type StopWord,
  isRecord,
  toRecord,
  toRecords,
  toStopWord,
  toText,
  toUsage,
} from './loose.ts'

const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text'] as const
const finishReasons: Partial<Record<StopWord, string>> = {
  stop: 'stop',
  tool: 'tool_calls',
  length: 'length',
  filter: 'content_filter',
}

export function chatFitter(): EventFitter {
  const slots = callSlots()
  let hasContent = false
  let hasEnded = false

  const chunk = (source: JsonObject, delta: JsonObject, more: JsonObject = {}): JsonObject => ({
    id: toText(source.id),
    model: toText(source.model),
    choices: [{ index: 0, delta, ...more }],
  })

  function text(source: JsonObject, field: string, value: string): FittedEvent[] {
    if (value === '') return []
    hasContent = true
    const delta = { [field]: value }
    return [{ data: chunk(source, delta), growing: { slot: field, holder: delta, field } }]
  }

  function call(source: JsonObject, { slot, id, name, text: input }: ChatCall): FittedEvent {
    hasContent = true
    const said: JsonObject = { arguments: input }
    if (name !== '') said.name = name
    const data = chunk(source, {
      tool_calls: [{ index: slot, ...(id !== '' && { id }), type: 'function', function: said }],
    })
    if (id !== '' || name !== '') return { data }
    return { data, growing: { slot: `call ${slot}`, holder: said, field: 'arguments' } }
  }

  /** Reasoning comes before the text, and both before calls. */
  function deltasOf(source: JsonObject, choice: JsonObject): FittedEvent[] {
    const { spoken, thought } = partsOf(choice)
    const events: FittedEvent[] = []
    const details = toRecords(choice.reasoning_details)
    const field = reasoningFields.find((each) => textIn(choice[each]) !== '')
    const reasoning = field === undefined ? thought : textIn(choice[field])
    events.push(...text(source, field ?? 'reasoning_content', reasoning))
    if (details.length > 0) events.push({ data: chunk(source, { reasoning_details: details }) })
    events.push(...text(source, 'content', spoken))
    for (const each of slots.take(choice)) events.push(call(source, each))
    return events
  }

  return {
    fit(data) {
      if (data.error !== undefined && data.error !== null) return [{ data }]
      const choice = toRecords(data.choices)[0] ?? {}
      const given = isRecord(choice.delta) ? choice.delta : wholeMessage(choice, hasContent)
      const events = deltasOf(data, given)
      const stop = toStopWord(choice.finish_reason)
      if (stop !== undefined) {
        hasEnded = true
        const finish_reason = finishReasons[stop] ?? toText(choice.finish_reason)
        events.push({ data: chunk(data, {}, { finish_reason }) })
      }
      const usage = toUsage(data.usage) ?? toUsage(choice.usage)
      if (usage !== undefined) events.push({ data: { ...chunk(data, {}), usage } })
      return events
    },
    done() {
      if (hasEnded || !hasContent) return []
      hasEnded = true
      return [{ data: chunk({}, {}, { finish_reason: slots.hasAny() ? 'tool_calls' : 'stop' }) }]
    },
  }
}

/** Some servers send a whole message, or the text of plain completions. One that repeats the pieces is passed over. */
function wholeMessage(choice: JsonObject, hasContent: boolean): JsonObject {
  if (isRecord(choice.message)) return hasContent ? {} : choice.message
  return { content: choice.text }
}

/** What a content says, and what it thinks: a text, or a list of parts. */
function partsOf({ content, refusal }: JsonObject): { spoken: string; thought: string } {
  if (typeof content !== 'object' || content === null) {
    return { spoken: toText(content) || toText(refusal), thought: '' }
  }
  let [spoken, thought] = ['', '']
  for (const part of [content].flat() as unknown[]) {
    const type = toText(toRecord(part).type)
    if (/think|reason/.test(type)) thought += textIn(part)
    else spoken += textIn(part)
  }
  return { spoken, thought }
}

const deepestPart = 4

/** The text of a part, or of a list of parts. */
function textIn(part: unknown, depth = deepestPart): string {
  if (depth === 0) return ''
  if (Array.isArray(part)) return part.map((each) => textIn(each, depth - 1)).join('')
  if (!isRecord(part)) return toText(part)
  const found = [part.text, part.thinking, part.reasoning, part.content, part.refusal]
  return textIn(found.find((each) => each !== undefined && each !== null) ?? '', depth - 1)
}
