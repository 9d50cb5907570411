/**
 * Which call a piece of chat completions belongs to. Servers give every call the index 0, no index, no id, one id to two
 * calls, or a new id with every piece.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../documents.ts'
import { toCount, toJsonText, toRecord, toRecords, toText } from './loose.ts'
import { type ObjectEnd, objectEnd } from './object-end.ts'

/** `id` and `name` are empty where the library knows them already. */
export type ChatCall = { slot: number; id: string; name: string; text: string }

type Piece = { index: number | undefined; id: string; name: string; text: string }
type CallSlot = {
  slot: number
  name: string
  /** As the server sent it. */
  id: string
  isBegun: boolean
  /** The name came again behind a whole input: what follows may be another call. */
  isNamedAgain: boolean
  end: ObjectEnd
}

export function callSlots() {
  const all: CallSlot[] = []
  const byId = new Map<string, CallSlot>()
  const byIndex = new Map<number, CallSlot>()

  function create({ id, name }: Piece): CallSlot {
    const end = objectEnd()
    const slot = { slot: all.length, name, id, isBegun: false, isNamedAgain: false, end }
    all.push(slot)
    return slot
  }

  function slotFor(piece: Piece): { slot: CallSlot; isNew: boolean } {
    const { index, id } = piece
    const known = index === undefined ? (byId.get(id) ?? all.at(-1)) : byIndex.get(index)
    const isNew = known === undefined || isNext(known, piece)
    const slot = isNew ? create({ ...piece, name: piece.name || (known?.name ?? '') }) : known
    if (index !== undefined) byIndex.set(index, slot)
    return { slot, isNew }
  }

  function read(piece: Piece): ChatCall {
    const { id, name, text } = piece
    const { slot, isNew } = slotFor(piece)
    const isNamed = isNew || (slot.name === '' && name !== '')
    if (slot.name === '') slot.name = name
    const given = isNew || slot.id === '' ? idFor(id) : ''
    if (slot.id === '') slot.id = id
    if (id !== '' && (isNew || !byId.has(id))) byId.set(id, slot)
    slot.isBegun ||= text !== ''
    slot.end.read(text)
    return { slot: slot.slot, id: given, name: isNamed ? slot.name : '', text }
  }

  const idFor = (id: string): string =>
    id !== '' && byId.has(id) ? `call_${randomUUID().replaceAll('-', '')}` : id

  return {
    hasAny: () => all.length > 0,
    take(delta: JsonObject): ChatCall[] {
      const legacy = toRecords(delta.function_call).map((said) => ({ function: said }))
      return [...toRecords(delta.tool_calls), ...legacy].map(pieceOf).map(read)
    },
  }
}

function pieceOf(sent: JsonObject): Piece {
  const said = { ...toRecord(sent.custom), ...toRecord(sent.function) }
  return {
    index: toCount(sent.index),
    id: toText(sent.id),
    name: toText(said.name ?? sent.name),
    text: toJsonText(said.arguments ?? said.input ?? sent.arguments),
  }
}

/** True when the piece begins another call in this slot. */
function isNext(slot: CallSlot, { id, name, text }: Piece): boolean {
  const says = text.trim() !== ''
  if (name === '') return slot.isNamedAgain && says
  if (slot.name === '') return false
  const isOther = id !== '' && slot.id !== '' && id !== slot.id
  if (name !== slot.name) return true
  if (!slot.end.isReached()) return isOther && !slot.isBegun
  if (isOther || says) return true
  slot.isNamedAgain = true
  return false
}
