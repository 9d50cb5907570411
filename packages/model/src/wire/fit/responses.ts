/** The Responses wire, as many gateways speak it. */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../documents.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import { isRecord, toJsonText, toRecord, toRecords, toText, toUsage } from './loose.ts'
import { type ItemType, responseItems } from './response-items.ts'

const deltaTypes: Record<string, ItemType> = {
  'response.output_text.delta': 'message',
  'response.refusal.delta': 'message',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
}
const statuses = new Set([
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'in_progress',
  'queued',
])

export function responsesFitter(): EventFitter {
  const items = responseItems()
  let hasEnded = false

  function end(type: string, sent: JsonObject): FittedEvent[] {
    hasEnded = true
    const output = toRecords(sent.output)
    // Some gateways send the items with the end only.
    const late = items.hasAny()
      ? []
      : output.flatMap((item, index) => items.finish(`index ${index}`, item))
    const said = toText(sent.status)
    const status = statuses.has(said) ? said : type.slice('response.'.length)
    const usage = toUsage(sent.usage)
    const { usage: _usage, ...rest } = sent
    const response = { ...rest, status, output, ...(usage && { usage }) }
    return [...late, { data: { type, response } }]
  }

  return {
    fit(data, name) {
      const type = toText(data.type) || (name ?? '')
      const of = deltaTypes[type]
      if (of !== undefined)
        return items.text(items.keyOf(data, data.item_id), type, of, toText(data.delta))
      switch (type) {
        case 'response.output_item.added':
          return items.add(
            items.keyOf(data, toRecord(data.item).id ?? randomUUID()),
            toRecord(data.item),
          )
        case 'response.reasoning_summary_part.done': {
          const index = items.indexOf(items.keyOf(data, data.item_id))
          return index === undefined ? [] : [{ data: { type, output_index: index } }]
        }
        case 'response.function_call_arguments.done':
          return items.whole(items.keyOf(data, data.item_id), toJsonText(data.arguments))
        case 'response.output_item.done':
          return items.finish(items.keyOf(data, toRecord(data.item).id), toRecord(data.item))
        case 'response.completed':
        case 'response.incomplete':
          return end(type, toRecord(data.response))
        case 'response.failed':
        case 'error':
          return [{ data: { ...data, type } }]
        default:
          return isRecord(data.error) ? [{ data }] : []
      }
    },
    done: () => (hasEnded || !items.hasAny() ? [] : end('response.completed', {})),
  }
}
