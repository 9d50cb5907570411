/** Where one of some short pieces stands next, mostly without a look at each byte (Wu and Manber). */

/** The bytes of a piece that are looked at first. */
const block = 3
const tableBits = 14

const hash = (a: number, b: number, c: number): number =>
  Math.imul((a << 16) | (b << 8) | c, 0x9e37_79b1) >>> (32 - tableBits)

export class Pieces {
  readonly #length: number
  /** By the hash of three bytes: how far on a piece may end at the earliest; 0 where they end one. */
  readonly #shift: Uint8Array
  readonly #ending = new Map<number, Uint8Array[]>()

  /** All of one length, of three bytes at least. */
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

  /** Where a piece begins, from `start` on; the chunk's length for nowhere. */
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
