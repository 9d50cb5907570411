/** Finds the next occurrence of one of several short pieces, mostly without reading each byte (Wu-Manber). */

/** Number of bytes that are compared first. */
const block = 3
const tableBits = 14

const hash = (a: number, b: number, c: number): number =>
  Math.imul((a << 16) | (b << 8) | c, 0x9e37_79b1) >>> (32 - tableBits)

export class PieceSet {
  readonly #length: number
  /** For each hash of three bytes: the distance until a piece may end; 0 when a piece ends here. */
  readonly #shift: Uint8Array
  readonly #ending = new Map<number, Uint8Array[]>()

  /** All pieces have the same length, at least three bytes. */
  constructor(pieces: readonly Uint8Array[], length: number) {
    this.#length = length
    const furthest = length - block + 1
    this.#shift = new Uint8Array(1 << tableBits).fill(furthest)
    for (const piece of pieces) {
      for (let end = block; end <= length; end++) {
        const key = hash(piece[end - 3] ?? 0, piece[end - 2] ?? 0, piece[end - 1] ?? 0)
        this.#shift[key] = Math.min(this.#shift[key] ?? 0, length - end)
        if (end === length) this.#ending.set(key, [...(this.#ending.get(key) ?? []), piece])
      }
    }
  }

  /** Start of the next piece from `start` on; the chunk's length when there is none. */
  next(chunk: Uint8Array, start: number): number {
    const shift = this.#shift
    const { length } = chunk
    let last = start + this.#length - 1
    while (last < length) {
      const key = hash(chunk[last - 2] ?? 0, chunk[last - 1] ?? 0, chunk[last] ?? 0)
      const by = shift[key] ?? 0
      if (by > 0) {
        last += by
        continue
      }
      const from = last - this.#length + 1
      if (this.#stands(chunk, from, key)) return from
      last++
    }
    return length
  }

  #stands(chunk: Uint8Array, from: number, key: number): boolean {
    for (const piece of this.#ending.get(key) ?? []) {
      let i = 0
      while (i < piece.length && chunk[from + i] === piece[i]) i++
      if (i === piece.length) return true
    }
    return false
  }
}
