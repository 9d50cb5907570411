/** The items of an answer of the Responses wire, and their texts so far. */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../documents.ts'
import type { FittedEvent } from './fitter.ts'
import { toCount, isRecord, toJsonText, toRecords, toText } from './loose.ts'

export type ItemType = 'message' | 'reasoning' | 'function_call'
/** `pieces`: the text of the item so far. `isWhole`: the input of a call was said to be whole. */
type OpenItem = { index: number; type: string; pieces: string[]; isWhole: boolean }

export function responseItems() {
  /** Open items by the key that the endpoint gave: its index, or else its id. */
  const open = new Map<string, OpenItem>()
  let count = 0
  let latest = ''

  const keyOf = (event: JsonObject, id: unknown): string => {
    const index = toCount(event.output_index)
    return index === undefined ? toText(id) || latest : `index ${index}`
  }

  function add(key: string, item: JsonObject): FittedEvent[] {
    const index = count++
    const fitted = fitItem(item)
    open.set(key, { index, type: toText(fitted.type), pieces: [], isWhole: false })
    latest = key
    return [{ data: { type: 'response.output_item.added', output_index: index, item: fitted } }]
  }

  /** The item with this key, which is begun when it is not open or is of another type. */
  function openItem(key: string, item: JsonObject): { before: FittedEvent[]; at: OpenItem } {
    const known = open.get(key)
    if (known !== undefined && known.type === item.type) return { before: [], at: known }
    const before = add(key, item)
    const at = open.get(key)
    if (at === undefined) throw new Error('an item that was begun is open')
    return { before, at }
  }

  function text(key: string, type: string, of: ItemType, delta: string): FittedEvent[] {
    if (delta === '') return []
    const { before, at } = openItem(key, { type: of })
    at.pieces.push(delta)
    const data = { type, output_index: at.index, delta }
    return [
      ...before,
      { data, growing: { slot: `${at.index} ${type}`, holder: data, field: 'delta' } },
    ]
  }

  /** The whole input of a call: what the pieces did not say is added. */
  function whole(key: string, input: string): FittedEvent[] {
    const known = open.get(key)
    if (known?.isWhole === true) return []
    if (known !== undefined) known.isWhole = true
    const said = known?.pieces.join('') ?? ''
    const rest = input.startsWith(said) ? input.slice(said.length) : ''
    return text(key, 'response.function_call_arguments.delta', 'function_call', rest)
  }

  function finish(key: string, item: JsonObject): FittedEvent[] {
    const type = toText(item.type)
    const { before, at } = openItem(key, item)
    const events = [...before]
    if (type === 'function_call') events.push(...whole(key, toJsonText(item.arguments)))
    const fitted = fitItem(item)
    if (type === 'message') {
      const content = toText(contentText(item))
      if (at.pieces.length === 0)
        events.push(...text(key, 'response.output_text.delta', type, content))
      const said = content === '' ? at.pieces.join('') : content
      fitted.content = [{ type: 'output_text', text: said }]
    }
    // The input that the library reads is the one that was streamed.
    if (type === 'function_call') fitted.arguments = at.pieces.join('')
    open.delete(key)
    return [
      ...events,
      { data: { type: 'response.output_item.done', output_index: at.index, item: fitted } },
    ]
  }

  return {
    add,
    text,
    whole,
    finish,
    keyOf,
    hasAny: () => count > 0,
    indexOf: (key: string): number | undefined => open.get(key)?.index,
  }
}

/** An item with texts where the library expects texts. Lists that are none are left out. */
function fitItem(item: JsonObject): JsonObject {
  const fitted: JsonObject = Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== null),
  )
  if (item.type === 'function_call') {
    const id = toText(item.id)
    Object.assign(fitted, {
      id: id || `fc_${randomUUID().replaceAll('-', '')}`,
      call_id: toText(item.call_id) || id || `call_${randomUUID().replaceAll('-', '')}`,
      name: toText(item.name),
      arguments: '',
    })
  }
  for (const name of ['summary', 'content']) {
    if (name in fitted && !Array.isArray(fitted[name])) delete fitted[name]
    else if (name in fitted) fitted[name] = toRecords(fitted[name]).map(fitPart)
  }
  return fitted
}

function fitPart(part: JsonObject): JsonObject {
  const fitted = { ...part }
  for (const name of ['text', 'refusal']) if (name in part) fitted[name] = toText(part[name])
  return fitted
}

function contentText({ content }: JsonObject): string {
  if (!Array.isArray(content)) return toText(content)
  return content
    .map((part) => (isRecord(part) ? toText(part.text) || toText(part.refusal) : toText(part)))
    .join('')
}
