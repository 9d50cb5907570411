/**
 * Where a look is worth its time. A secret that is spelled with an escape near its beginning is found by the escape;
 * any other has one of its first two pieces in one: line ends are further apart than two pieces are long.
 */
import { Pieces } from './pieces.ts'
import { controls, hexValues, longestRun } from './unescape.ts'

const [backslash, percent, letterU] = [0x5c, 0x25, 0x75]
const [lineFeed, carriageReturn] = [0x0a, 0x0d]
/** Of a piece, in bytes; lines of Base64 have 64 or 76. */
const longestPiece = 24
/** Between two pieces, in bytes: a line end and its indentation, escaped or not. */
const widestGap = 64
/** Bytes. */
const nearby = 24

export class Candidates {
  readonly pieces: Pieces
  /** How far before a piece or an escape a secret may begin, as long as it has no escape before. */
  readonly reach: number
  /** Pairs of bytes that follow each other near the beginning of a pattern. */
  readonly #pairs = new Uint8Array(8192)
  readonly #firsts = new Uint8Array(256)

  /** Patterns have six bytes at least. */
  constructor(patterns: readonly Uint8Array[]) {
    const shortest = Math.min(...patterns.map(({ length }) => length))
    const length = Math.min(longestPiece, shortest >> 1)
    const pieces = patterns.flatMap((pattern) => [
      pattern.subarray(0, length),
      pattern.subarray(length, 2 * length),
    ])
    this.pieces = new Pieces(pieces, length)
    this.reach = 2 * length + widestGap
    for (const pattern of patterns)
      for (let i = 1; i < Math.min(pattern.length, 2 * length + 1); i++)
        this.#add(((pattern[i - 1] ?? 0) << 8) | (pattern[i] ?? 0))
  }

  #add(pair: number): void {
    const at = pair >> 3
    this.#pairs[at] = (this.#pairs[at] ?? 0) | (1 << (pair & 7))
    this.#firsts[pair >> 8] = 1
  }

  /** `second` may be `unknown`. */
  mayBegin(first: number, second: number): boolean {
    if (first === unknown) return true
    if (second === unknown) return this.#firsts[first] === 1
    const pair = (first << 8) | second
    return ((this.#pairs[pair >> 3] ?? 0) & (1 << (pair & 7))) !== 0
  }
}

/** Escapes that are not told from one another without their next byte, or that may hide another escape. */
const unknown = -1

/** Through one chunk, from its beginning to its end. */
export class Search {
  readonly #of: Candidates
  readonly #chunk: Buffer
  /** The next piece, and the next backslash and percent sign that may matter. */
  #piece = -1
  #slash = -1
  #percent = -1
  /** The next candidate: from where on to look, and up to where at least. */
  from = 0
  to = 0

  constructor(of: Candidates, chunk: Buffer) {
    this.#of = of
    this.#chunk = chunk
  }

  /** Moves on to the next candidate from `at` on. The end of a chunk is one: what begins there may go on in the next. */
  next(at: number): void {
    const { length } = this.#chunk
    if (this.#piece < at) this.#piece = this.#of.pieces.next(this.#chunk, at)
    if (this.#slash < at) this.#slash = this.#nextEscape(backslash, at)
    if (this.#percent < at) this.#percent = this.#nextEscape(percent, at)
    const nearest = Math.min(this.#piece, this.#slash, this.#percent, length)
    this.from = Math.max(at, nearest - this.#of.reach)
    this.to = Math.min(length, nearest + 1)
  }

  #nextEscape(sign: number, start: number): number {
    const chunk = this.#chunk
    let at = this.#nextSign(sign, start)
    while (at !== -1) {
      const quick = sign === backslash ? this.#afterSimple(at) : at
      if (quick > at) {
        at = this.#nextSign(sign, quick)
        continue
      }
      const end = sign === backslash ? this.#endOfRun(at) : at + 1
      if (this.#of.mayBegin(this.#byteAt(at), this.#secondAt(this.#after(at)))) return at
      at = this.#nextSign(sign, end)
    }
    return chunk.length
  }

  /** Behind a backslash, its letter and a byte that are nothing to look at: what nearly all escapes are. */
  #afterSimple(at: number): number {
    const letter = this.#chunk[at + 1] ?? unknown
    const second = this.#chunk[at + 2] ?? unknown
    if (isOpen(letter) || letter === letterU || isOpen(second) || second < 0x20) return at
    return this.#of.mayBegin(controls[letter] ?? letter, second) ? at : at + 2
  }

  /** Where escapes are dense, the next one is near, and found sooner than the search for it begins. */
  #nextSign(sign: number, start: number): number {
    const near = Math.min(start + nearby, this.#chunk.length)
    for (let at = start; at < near; at++) if (this.#chunk[at] === sign) return at
    return near === this.#chunk.length ? -1 : this.#chunk.indexOf(sign, near)
  }

  #endOfRun(at: number): number {
    let end = at + 1
    while (this.#chunk[end] === backslash) end++
    return end
  }

  #secondAt(at: number): number {
    const second = this.#byteAt(at)
    return second === lineFeed || second === carriageReturn ? unknown : second
  }

  /** Of what begins here: a byte, or an escape. */
  #after(at: number): number {
    const byte = this.#chunk[at]
    if (byte === percent) return this.#hex(at + 1, 2) < 0 ? at + 1 : at + 3
    if (byte !== backslash) return at + 1
    const end = this.#endOfRun(at)
    if (this.#chunk[end] === letterU && this.#hex(end + 1, 4) >= 0) return end + 5
    return end + 1
  }

  /** The byte that stands here, of a character its first; `unknown` where more would have to be read. */
  #byteAt(at: number): number {
    const byte = this.#chunk[at] ?? unknown
    if (byte === backslash) return this.#letterAt(at)
    if (byte !== percent) return byte
    if (at + 2 >= this.#chunk.length) return unknown
    const value = this.#hex(at + 1, 2)
    return value < 0 ? byte : closed(value)
  }

  /** What backslashes make of the letter behind them. */
  #letterAt(at: number): number {
    const end = this.#endOfRun(at)
    if (end + 5 > this.#chunk.length) return unknown
    // It stands apart from what follows.
    if (end - at > longestRun) return backslash
    const letter = this.#chunk[end] ?? 0
    if (letter !== letterU) return letter === percent ? unknown : (controls[letter] ?? letter)
    const value = this.#hex(end + 1, 4)
    if (value < 0) return letterU
    return value < 0x80 ? closed(value) : leadOf(value)
  }

  #hex(at: number, digits: number): number {
    let value = 0
    for (let i = at; i < at + digits; i++) {
      const digit = hexValues[this.#chunk[i] ?? 0] ?? -1
      if (digit < 0) return -1
      value = value * 16 + digit
    }
    return value
  }
}

/** Another escape may be behind it. */
const isOpen = (byte: number): boolean => byte === backslash || byte === percent

const closed = (byte: number): number => (isOpen(byte) ? unknown : byte)

/** Of a character's UTF-8; of half a character, that of the whole. */
function leadOf(unit: number): number {
  if (unit < 0x800) return 0xc0 | (unit >> 6)
  if (unit >= 0xd800 && unit <= 0xdbff) return 0xf0 | ((((unit - 0xd800) << 10) + 0x10000) >> 18)
  return 0xe0 | (unit >> 12)
}
