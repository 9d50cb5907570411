/**
 * Decodes one level of JSON and URL escapes in a stream of bytes, with the original position of each byte: `\"`,
 * `\u0022` and `%22` give the byte `"`. A run of backslashes counts as one, so that deeply nested texts, with seven
 * backslashes before a quote, are decoded at once. Text that is no escape is passed on unchanged.
 */
const [backslash, percent, letterU] = [0x5c, 0x25, 0x75]
/** For a text that is nested four times. */
export const longestRun = 16

/** Gets a byte that stands for the original bytes from `from` up to `to`. */
export type ByteSink = (byte: number, from: number, to: number) => void

/** `\n` and similar escapes. Any other character after a backslash stands for itself. */
export const controlEscapes = new Uint8Array(256).map((_, byte) => byte)
for (const [letter, control] of ['b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  controlEscapes[(letter ?? '').charCodeAt(0)] = (control ?? '').charCodeAt(0)

export const hexValues = new Int8Array(256).fill(-1)
for (const digit of '0123456789abcdefABCDEF')
  hexValues[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** Number of incomplete escapes on all levels. */
export type OpenEscapes = { count: number }

type EscapeMode = 'plain' | 'slash' | 'unicode' | 'percent'

export class EscapeLevel {
  readonly #out: ByteSink
  readonly #waiting: OpenEscapes
  #mode: EscapeMode = 'plain'
  /** Start of the escape, and its number of backslashes. */
  #from = 0
  #run = 0
  /** Bytes of an incomplete escape, which are passed on unchanged if it turns out to be none. */
  readonly #bytes = new Uint8Array(8)
  readonly #froms = new Float64Array(8)
  readonly #tos = new Float64Array(8)
  #length = 0
  #value = 0
  /** The high surrogate of a character that JSON spells with two escapes. */
  #high = 0
  #highFrom = 0
  #highTo = 0

  constructor(out: ByteSink, waiting: OpenEscapes) {
    this.#out = out
    this.#waiting = waiting
  }

  /** Position of the first byte that is held back. */
  get heldFrom(): number {
    if (this.#high !== 0) return this.#highFrom
    return this.#mode === 'plain' ? Number.POSITIVE_INFINITY : this.#from
  }

  push(byte: number, from: number, to: number): void {
    switch (this.#mode) {
      case 'plain':
        return this.#plain(byte, from, to)
      case 'slash':
        return this.#afterSlash(byte, from, to)
      default:
        return this.#digit(byte, from, to)
    }
  }

  /** Call at the end of the stream: releases the bytes that are held back. */
  end(): void {
    this.#giveUp()
    this.#settleHigh()
  }

  #plain(byte: number, from: number, to: number): void {
    if (byte === backslash) this.#begin('slash', from)
    else if (byte === percent) {
      this.#begin('percent', from)
      this.#keep(byte, from, to)
    } else this.#emit(byte, from, to)
  }

  #begin(mode: EscapeMode, from: number): void {
    if (this.#mode === 'plain') this.#waiting.count++
    this.#mode = mode
    this.#from = from
    this.#run = 1
    this.#length = 0
    this.#value = 0
  }

  #leave(): void {
    this.#mode = 'plain'
    this.#waiting.count--
  }

  #keep(byte: number, from: number, to: number): void {
    this.#bytes[this.#length] = byte
    this.#froms[this.#length] = from
    this.#tos[this.#length++] = to
  }

  #afterSlash(byte: number, from: number, to: number): void {
    if (byte === backslash) {
      if (++this.#run <= longestRun) return
      // No text contains such a run: it separates the text before and after it.
      this.#leave()
      this.#emit(byte, from, to)
    } else if (byte === letterU) {
      this.#mode = 'unicode'
      this.#keep(byte, from, to)
    } else if (byte === percent) {
      this.#begin('percent', this.#from)
      this.#keep(byte, from, to)
    } else {
      this.#leave()
      this.#emit(controlEscapes[byte] ?? byte, this.#from, to)
    }
  }

  #digit(byte: number, from: number, to: number): void {
    const value = hexValues[byte] ?? -1
    if (value < 0) {
      this.#giveUp()
      return this.#plain(byte, from, to)
    }
    this.#keep(byte, from, to)
    this.#value = this.#value * 16 + value
    if (this.#length < (this.#mode === 'unicode' ? 5 : 3)) return
    const isByte = this.#mode === 'percent'
    this.#leave()
    if (isByte) this.#emit(this.#value, this.#from, to)
    else this.#unit(this.#value, this.#from, to)
  }

  #giveUp(): void {
    const length = this.#mode === 'slash' ? 0 : this.#length
    if (this.#mode === 'plain') return
    this.#leave()
    for (let i = 0; i < length; i++) {
      const from = i === 0 ? this.#from : (this.#froms[i] ?? 0)
      this.#emit(this.#bytes[i] ?? 0, from, this.#tos[i] ?? 0)
    }
  }

  /** One UTF-16 code unit. */
  #unit(unit: number, from: number, to: number): void {
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (isLow && this.#high !== 0) {
      const point = 0x10000 + ((this.#high - 0xd800) << 10) + (unit - 0xdc00)
      this.#high = 0
      this.#waiting.count--
      this.#character(point, this.#highFrom, to)
    } else if (unit >= 0xd800 && unit <= 0xdbff) {
      this.#settleHigh()
      this.#high = unit
      this.#waiting.count++
      this.#highFrom = from
      this.#highTo = to
    } else {
      this.#settleHigh()
      this.#character(isLow ? 0xfffd : unit, from, to)
    }
  }

  #settleHigh(): void {
    if (this.#high === 0) return
    this.#high = 0
    this.#waiting.count--
    this.#character(0xfffd, this.#highFrom, this.#highTo)
  }

  /** Emits the character as UTF-8. */
  #character(point: number, from: number, to: number): void {
    if (point < 0x80) return this.#out(point, from, to)
    const continued = (shift: number) => this.#out(0x80 | ((point >> shift) & 0x3f), from, to)
    if (point < 0x800) this.#out(0xc0 | (point >> 6), from, to)
    else if (point < 0x10000) this.#out(0xe0 | (point >> 12), from, to)
    else {
      this.#out(0xf0 | (point >> 18), from, to)
      continued(12)
    }
    if (point >= 0x800) continued(6)
    continued(0)
  }

  #emit(byte: number, from: number, to: number): void {
    if (this.#high !== 0) this.#settleHigh()
    this.#out(byte, from, to)
  }
}
