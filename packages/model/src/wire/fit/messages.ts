/** The Messages wire, as many gateways speak it. */
import { randomUUID } from 'node:crypto'
import { RefusedAnswer } from '../bounded-answer.ts'
import type { JsonObject } from '../documents.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import {
  type StopWord,
  toCount,
  isRecord,
  toJsonText,
  toRecord,
  toStopWord,
  toText,
  toUsage,
} from './loose.ts'

const stopReasons: Partial<Record<StopWord, string>> = {
  stop: 'end_turn',
  tool: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
}
/** Words that the library tells apart. */
const ownReasons = new Set(['pause_turn', 'stop_sequence', 'sensitive'])

/** The kind of a block by its deltas, and the field that a delta adds to. */
const deltaKinds: Record<string, { of: string; field: string }> = {
  text_delta: { of: 'text', field: 'text' },
  thinking_delta: { of: 'thinking', field: 'thinking' },
  signature_delta: { of: 'thinking', field: 'signature' },
  input_json_delta: { of: 'tool_use', field: 'partial_json' },
}

/** Attack: the library searches all blocks at each piece. */
const mostBlocks = 8_192

type SentBlock = { index: number; type: string }

export function messagesFitter(): EventFitter {
  /** Open blocks by the index that the endpoint gave. */
  const open = new Map<number | undefined, SentBlock>()
  const ids = new Set<string>()
  let count = 0
  let latest: number | undefined
  let hasStopped = false

  function stopBlock(given: number | undefined): FittedEvent[] {
    const block = open.get(given)
    if (block === undefined) return []
    open.delete(given)
    return [{ data: { type: 'content_block_stop', index: block.index } }]
  }

  function startBlock(given: number | undefined, block: JsonObject): FittedEvent[] {
    const before = stopBlock(given)
    const index = count++
    if (index === mostBlocks)
      throw new RefusedAnswer(`The endpoint sent more than ${mostBlocks} blocks in one answer`)
    const type = toText(block.type)
    open.set(given, { index, type })
    latest = given
    const { content_block, input } = fitBlock(block, type, ids)
    return [
      ...before,
      { data: { type: 'content_block_start', index, content_block } },
      ...(input === '' ? [] : [deltaOf(index, 'input_json_delta', 'partial_json', input)]),
    ]
  }

  function delta(given: number | undefined, sent: JsonObject): FittedEvent[] {
    const type = typeOf(sent)
    const kind = type === undefined ? undefined : deltaKinds[type]
    if (type === undefined || kind === undefined) return []
    const at = given ?? latest
    const known = open.get(at)
    const isFitting = known !== undefined && (known.type === kind.of || !isKnown(known.type))
    const before = isFitting ? [] : startBlock(at, { type: kind.of })
    const block = open.get(at)
    const text = kind.of === 'tool_use' ? toJsonText(sent[kind.field]) : toText(sent[kind.field])
    if (block === undefined || text === '') return before
    return [...before, deltaOf(block.index, type, kind.field, text)]
  }

  function messageDelta(event: JsonObject): FittedEvent[] {
    const sent = toRecord(event.delta)
    const said = toText(sent.stop_reason ?? event.stop_reason)
    const stop = toStopWord(said)
    const usage = toUsage(event.usage)
    if (stop !== undefined) hasStopped = true
    const stop_reason = ownReasons.has(said) ? said : stop && (stopReasons[stop] ?? said)
    const details = isRecord(sent.stop_details) ? { stop_details: sent.stop_details } : {}
    const fitted = { ...details, ...(stop_reason !== undefined && { stop_reason }) }
    return [{ data: { type: 'message_delta', delta: fitted, ...(usage && { usage }) } }]
  }

  return {
    fit(data, name) {
      const type = toText(data.type) || (name ?? '')
      const given = toCount(data.index)
      switch (type) {
        case 'message_start': {
          const { id, model, ...message } = toRecord(data.message)
          const usage = toUsage(message.usage) ?? {}
          const fitted = { ...message, id: toText(id), model: toText(model), usage }
          return [{ data: { type, message: fitted } }]
        }
        case 'content_block_start':
          return startBlock(given, toRecord(data.content_block))
        case 'content_block_delta':
          return delta(given, toRecord(data.delta))
        case 'content_block_stop':
          return stopBlock(given ?? latest)
        case 'message_delta':
          return messageDelta(data)
        case 'message_stop': {
          const end = hasStopped ? [] : messageDelta({ delta: { stop_reason: 'end_turn' } })
          return [...end, { data: { type } }]
        }
        case 'ping':
          return []
        default:
          return [{ data: { ...data, type: isRecord(data.error) ? 'error' : type } }]
      }
    },
    done: () => [],
  }
}

const isKnown = (type: string): boolean => ['text', 'thinking', 'tool_use'].includes(type)

function deltaOf(index: number, type: string, field: string, text: string): FittedEvent {
  const delta = { type, [field]: text }
  const data = { type: 'content_block_delta', index, delta }
  return { data, growing: { slot: `${index} ${type}`, holder: delta, field } }
}

/** The type of a delta, by what it carries where it does not say. */
function typeOf(delta: JsonObject): string | undefined {
  const said = toText(delta.type)
  if (said !== '') return said
  return Object.entries(deltaKinds).find(([, { field }]) => field in delta)?.[0]
}

/** `input`: the input of a call that came with its start. */
function fitBlock(
  block: JsonObject,
  type: string,
  ids: Set<string>,
): { content_block: JsonObject; input: string } {
  switch (type) {
    case 'text':
      return { content_block: { type, text: toText(block.text) }, input: '' }
    case 'thinking': {
      const [thinking, signature] = [toText(block.thinking), toText(block.signature)]
      return { content_block: { type, thinking, signature }, input: '' }
    }
    case 'tool_use': {
      const said = toText(block.id)
      const id = said === '' || ids.has(said) ? `toolu_${randomUUID().replaceAll('-', '')}` : said
      ids.add(id)
      // The library reads an input from its pieces only.
      const isEmpty = isRecord(block.input) && Object.keys(block.input).length === 0
      const input = isEmpty ? '' : toJsonText(block.input)
      return { content_block: { type, id, name: toText(block.name), input: {} }, input }
    }
    default:
      return { content_block: { ...block, type }, input: '' }
  }
}
