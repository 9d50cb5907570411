/** Cuts long texts, base64 and long lists out of an event's fields, and says what was cut. [events/light/cut] */
import type { Cut } from '@steward/protocol/light-events.ts'
import { pointerName } from '../../../ground/core/text/json-pointer.ts'

/** Characters of a text that stay, at its beginning and at its end. */
export type KeptLengths = { head: number; tail: number }

/** A text that is known by its beginning and its end. `mark` stands between them, for so many bytes of JSON. */
export type TextGap = { mark: string; bytes: number }

/** `gapAt`: where the gap was found. */
export type LightFields = {
  fields: Record<string, unknown>
  cut: Cut[]
  gapAt?: string | undefined
}

/** Characters of one field of an event; a list or an object that passes them loses its last items. */
const fieldRoom = 4096
const deepest = 32
/** A text is cut only if this many characters fall away. */
const leastCut = 64

type Walk = { lengths: KeptLengths; gap: TextGap | undefined; cut: Cut[]; gapAt?: string }

export function cutFields(
  fields: Record<string, unknown>,
  lengths: KeptLengths,
  gap?: TextGap,
): LightFields {
  const walk: Walk = { lengths, gap, cut: [] }
  const light = Object.entries(fields).map(([name, value]) => [
    name,
    cutValue(walk, value, `/${pointerName(name)}`, { left: fieldRoom }),
  ])
  return { fields: Object.fromEntries(light), cut: walk.cut, gapAt: walk.gapAt }
}

/** Bytes of a text as JSON writes it, without its quotes. */
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

type Room = { left: number }

function cutValue(walk: Walk, value: unknown, at: string, room: Room): unknown {
  if (typeof value === 'string') return cutText(walk, value, at, room)
  room.left -= 8
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return cutItems(walk, value, at, room)
  if (isBase64(value)) return { ...value, data: cutBytes(walk, value.data, `${at}/data`) }
  const entries = Object.entries(value)
  const kept: [string, unknown][] = []
  for (const [name, each] of entries) {
    if (isFull(room, at, name.length)) break
    room.left -= name.length
    kept.push([name, cutValue(walk, each, `${at}/${pointerName(name)}`, room)])
  }
  tellLeftOut(walk, at, entries.length - kept.length)
  return Object.fromEntries(kept)
}

function cutItems(walk: Walk, items: readonly unknown[], at: string, room: Room): unknown[] {
  const kept: unknown[] = []
  for (const each of items) {
    if (isFull(room, at, 0)) break
    kept.push(cutValue(walk, each, `${at}/${kept.length}`, room))
  }
  tellLeftOut(walk, at, items.length - kept.length)
  return kept
}

const isFull = ({ left }: Room, at: string, more: number): boolean =>
  left <= more || at.split('/').length > deepest

function tellLeftOut({ cut }: Walk, at: string, left_out: number): void {
  if (left_out > 0) cut.push({ at, left_out })
}

function cutText(walk: Walk, text: string, at: string, room: Room): string {
  const { lengths, gap, cut } = walk
  const middle = gap ? text.indexOf(gap.mark) : -1
  if (!gap || middle < 0) {
    if (text.length <= lengths.head + lengths.tail + leastCut) {
      room.left -= text.length
      return text
    }
    cut.push(cutOf(at, jsonBytes(text), text, lengths))
    return headOf(text, lengths, room)
  }
  walk.gapAt = at
  const [head, tail] = [text.slice(0, middle), text.slice(middle + gap.mark.length)]
  cut.push(cutOf(at, jsonBytes(head) + gap.bytes + jsonBytes(tail), tail, lengths))
  return headOf(head, lengths, room)
}

/** `toWellFormed`: a pair of surrogates may be cut in two. */
function headOf(text: string, { head }: KeptLengths, room: Room): string {
  const kept = text.slice(0, head).toWellFormed()
  room.left -= kept.length
  return kept
}

const cutOf = (at: string, bytes: number, text: string, { tail }: KeptLengths): Cut =>
  tail === 0 ? { at, bytes } : { at, bytes, tail: text.slice(-tail).toWellFormed() }

function isBase64(value: object): value is { type: 'base64'; data: string } {
  return (
    'type' in value && value.type === 'base64' && 'data' in value && typeof value.data === 'string'
  )
}

/** Says how many bytes the base64 stands for. Nothing of it is kept. */
function cutBytes(walk: Walk, data: string, at: string): string {
  const { gap, cut } = walk
  const hasGap = gap !== undefined && data.includes(gap.mark)
  if (hasGap) walk.gapAt = at
  const length = hasGap ? data.length - gap.mark.length + gap.bytes : data.length
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  cut.push({ at, bytes: Math.max(0, Math.floor((length * 3) / 4) - padding) })
  return ''
}
