/**
 * Finds the places where a search for secrets is needed. A secret with an escape near its beginning is found by the
 * escape. Any other secret contains one of its first two pieces unbroken, because line ends are further apart than two
 * pieces are long.
 */
import { PieceSet } from './pieces.ts'
import { controlEscapes, hexValues, longestRun } from './unescape.ts'

const [backslash, percent, letterU] = [0x5c, 0x25, 0x75]
const [lineFeed, carriageReturn] = [0x0a, 0x0d]
/** Length of a piece in bytes. Lines of Base64 have 64 or 76. */
const longestPiece = 24
/** Longest gap between two pieces in bytes: a line end and its indentation, escaped or not. */
const widestGap = 64
/** Length in bytes of the part that a loop searches before `indexOf` does. */
const nearby = 24

export class CandidateIndex {
  readonly pieces: PieceSet
  /** Largest distance from the beginning of a secret to its first escape, or to its piece. */
  readonly reach: number
  /** Pairs of neighbouring bytes near the beginning of a pattern. */
  readonly #pairs = new Uint8Array(8192)
  readonly #firsts = new Uint8Array(256)

  /** Every pattern has at least six bytes. */
  constructor(patterns: readonly Uint8Array[]) {
    const shortest = Math.min(...patterns.map(({ length }) => length))
    const length = Math.min(longestPiece, shortest >> 1)
    const pieces = patterns.flatMap((pattern) => [
      pattern.subarray(0, length),
      pattern.subarray(length, 2 * length),
    ])
    this.pieces = new PieceSet(pieces, length)
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

  /** True when the two bytes may begin a pattern. `second` may be `unknown`. */
  mayBegin(first: number, second: number): boolean {
    if (first === unknown) return true
    if (second === unknown) return this.#firsts[first] === 1
    const pair = (first << 8) | second
    return ((this.#pairs[pair >> 3] ?? 0) & (1 << (pair & 7))) !== 0
  }
}

/** Stands for a byte that depends on later bytes, or that may hide another escape. */
const unknown = -1

/** Searches one chunk, from its beginning to its end. */
export class CandidateSearch {
  readonly #of: CandidateIndex
  readonly #chunk: Buffer
  /** Positions of the next piece, backslash and percent sign. */
  #piece = -1
  #slash = -1
  #percent = -1
  /** The next candidate: where the search must begin, and how far it must go at least. */
  from = 0
  to = 0

  constructor(of: CandidateIndex, chunk: Buffer) {
    this.#of = of
    this.#chunk = chunk
  }

  /**
   * Moves to the next candidate from `at` on. The end of a chunk is a candidate, because a secret may continue in the
   * next chunk.
   */
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

  /**
   * The position after a backslash and its letter if they can begin no pattern, as for nearly all escapes; otherwise
   * `at`.
   */
  #afterSimple(at: number): number {
    const letter = this.#chunk[at + 1] ?? unknown
    const second = this.#chunk[at + 2] ?? unknown
    if (isOpen(letter) || letter === letterU || isOpen(second) || second < 0x20) return at
    return this.#of.mayBegin(controlEscapes[letter] ?? letter, second) ? at : at + 2
  }

  /** Finds the next sign. A short loop comes first, because it is faster than `indexOf` when escapes are dense. */
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

  /** The position after the byte or escape at `at`. */
  #after(at: number): number {
    const byte = this.#chunk[at]
    if (byte === percent) return this.#hex(at + 1, 2) < 0 ? at + 1 : at + 3
    if (byte !== backslash) return at + 1
    const end = this.#endOfRun(at)
    if (this.#chunk[end] === letterU && this.#hex(end + 1, 4) >= 0) return end + 5
    return end + 1
  }

  /** The byte that stands here, or the first byte of a character. `unknown` if later bytes decide. */
  #byteAt(at: number): number {
    const byte = this.#chunk[at] ?? unknown
    if (byte === backslash) return this.#letterAt(at)
    if (byte !== percent) return byte
    if (at + 2 >= this.#chunk.length) return unknown
    const value = this.#hex(at + 1, 2)
    return value < 0 ? byte : closed(value)
  }

  /** The character that a run of backslashes and the letter after it stand for. */
  #letterAt(at: number): number {
    const end = this.#endOfRun(at)
    if (end + 5 > this.#chunk.length) return unknown
    // Too long for an escape: the run separates the text before and after it.
    if (end - at > longestRun) return backslash
    const letter = this.#chunk[end] ?? 0
    if (letter !== letterU) return letter === percent ? unknown : (controlEscapes[letter] ?? letter)
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

/** True when another escape may follow. */
const isOpen = (byte: number): boolean => byte === backslash || byte === percent

const closed = (byte: number): number => (isOpen(byte) ? unknown : byte)

/** The first byte of a character's UTF-8; for a surrogate, that of the whole character. */
function leadOf(unit: number): number {
  if (unit < 0x800) return 0xc0 | (unit >> 6)
  if (unit >= 0xd800 && unit <= 0xdbff) return 0xf0 | ((((unit - 0xd800) << 10) + 0x10000) >> 18)
  return 0xe0 | (unit >> 12)
}
