/** The output of a running command in pieces, in the form in which its result will have it. */
import { stripVTControlCharacters } from 'node:util'

/** Bytes of the output in one piece. [events/ext/tool-output-bounds] */
const pieceBytes = 4_096
/** A piece that does not begin where another ended begins at a line, if one begins within so many bytes. */
const lineWithinBytes = 1_024
/** Of an output with secrets whose beginning is not here, so many bytes are not shown: they may be the rest of a secret. */
const unseenBytes = 32 << 10
/** A longer escape sequence without an end is taken as text. */
const longestEscape = 256

/** The end of the output so far. `quietMs`: how long ago its last byte came, or the command began. */
export type OutputEnd = { bytes: Buffer; total: number; quietMs: number }

export type OutputPiece = {
  /** The newest part of the output, ANSI codes removed and secrets masked. */
  text: string
  /** Bytes of the output before `text`. */
  offset: number
  /** Where the part of `text` begins that follows the piece before: its index, and the bytes of the output before it. */
  newIndex: number
  newOffset: number
  /** Bytes of the output up to the end of `text`. */
  end: number
  /** Bytes of the output so far. */
  total: number
  quietMs: number
}

/** `safe`: the length of the beginning that no later byte makes a part of a secret. Masking keeps all lengths. */
export type MaskedText = { bytes: Buffer; safe: number }
export type OutputMask = (text: Buffer) => MaskedText

const isInside = (byte: number | undefined): boolean => ((byte ?? 0) & 0xc0) === 0x80
const newline = 0x0a

/** Length without a character or an escape sequence that is not whole yet. */
function wholeLength(bytes: Buffer): number {
  let lead = bytes.length - 1
  while (lead > bytes.length - 4 && isInside(bytes[lead])) lead--
  const first = bytes[lead] ?? 0
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  const whole = lead >= 0 && lead + needed > bytes.length ? lead : bytes.length
  const from = Math.max(0, whole - longestEscape)
  const text = bytes.toString('latin1', from, whole)
  const last = lastEscape(text)
  // An escape may be the end of a longer sequence.
  const earlier = last === text.length - 1 ? lastEscape(text.slice(0, last)) : -1
  if (earlier !== -1 && isOpen(text.slice(earlier, last))) return from + earlier
  return last !== -1 && isOpen(text.slice(last)) ? from + last : whole
}

/** The two ways in which an escape sequence begins, as bytes. */
const beginnings = ['\u001b', '\u00c2\u009b']
const lastEscape = (text: string): number =>
  Math.max(...beginnings.map((beginning) => text.lastIndexOf(beginning)))

/** True for an escape sequence whose end has not come. */
const isOpen = (sequence: string): boolean =>
  !sequence.includes('\u0007') &&
  /^(?:[[()#;?][\d;:?<=>!]*|\].*)?$/s.test(sequence.replace('\u00c2', '').slice(1))

/** Length of the beginning of `raw` that has this many lines fewer. */
function withoutLines(raw: Buffer, count: number): number {
  let at = raw.length
  for (let left = count; left > 0 && at > 0; left--) at = raw.lastIndexOf(newline, at - 1)
  return at + 1
}

function linesAfter(text: Buffer, at: number): number {
  let count = 0
  for (let i = at; i < text.length; i++) if (text[i] === newline) count++
  return count
}

/**
 * The piece that follows the one that ended at `told`. Of an output that grew by more than a piece the middle is left
 * out. The text may overlap pieces before it, for those who did not hear them.
 */
export function buildOutputPiece(
  { bytes, total, quietMs }: OutputEnd,
  told: number,
  mask?: OutputMask,
): OutputPiece {
  let skipped = 0
  const isCut = total > bytes.length
  while (isCut && skipped < 4 && isInside(bytes[skipped])) skipped++
  const begin = total - bytes.length + skipped
  const raw = bytes.subarray(skipped, Math.max(skipped, wholeLength(bytes)))
  const plain = Buffer.from(stripVTControlCharacters(raw.toString('utf8')))
  /** Where the text of these first bytes of the output ends. */
  const positionOf = (offset: number): number =>
    Math.min(
      Buffer.byteLength(stripVTControlCharacters(raw.toString('utf8', 0, offset - begin))),
      plain.length,
    )
  const masked = mask?.(plain)
  const shown = masked?.bytes ?? plain
  let end = begin + raw.length
  if (masked && masked.safe < plain.length) {
    // The end of the text may be the beginning of a secret: its line is told with what follows.
    const line = masked.safe === 0 ? 0 : plain.lastIndexOf(newline, masked.safe - 1) + 1
    end = line === 0 ? begin : begin + withoutLines(raw, linesAfter(plain, line) + 1)
  }
  // What was told once stays told.
  end = Math.max(end, Math.min(told, begin + raw.length))
  const first = masked && isCut ? begin + unseenBytes : begin
  if (end <= first)
    return { text: '', offset: told, newIndex: 0, newOffset: told, end: told, total, quietMs }
  /** The first place from here on at which a text can begin. */
  function beginningFrom(offset: number): number {
    if (offset <= begin) return begin
    const line = raw.indexOf(newline, offset - begin)
    if (line !== -1 && line < offset - begin + lineWithinBytes && begin + line < end)
      return begin + line + 1
    let at = offset - begin
    while (at < raw.length && isInside(raw[at])) at++
    return begin + at
  }
  const earliest = Math.max(first, end - pieceBytes)
  const newOffset = told >= earliest ? told : beginningFrom(earliest)
  const offset = Math.min(newOffset, beginningFrom(earliest))
  const [from, middle, to] = [positionOf(offset), positionOf(newOffset), positionOf(end)]
  const before = shown.toString('utf8', from, middle)
  const text = before + shown.toString('utf8', middle, to)
  return { text, offset, newIndex: before.length, newOffset, end, total, quietMs }
}
