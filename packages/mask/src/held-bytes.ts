/** Holds bytes that may not be released yet, and overwrites the masked ones. */
const star = 0x2a

type HeldPiece = { bytes: Buffer; from: number; isOurs: boolean }
type MaskedSpan = { from: number; to: number }

export class HeldBytes {
  #pieces: HeldPiece[] = []
  /** Pieces before this index are released. */
  #first = 0
  /** End of the last piece, counted from the first byte of the stream. */
  #to = 0
  /** Masked spans, disjoint and ordered. */
  #masked: MaskedSpan[] = []

  get to(): number {
    return this.#to
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#pieces.push({ bytes, from: this.#to, isOurs: false })
    this.#to += bytes.length
  }

  /** Each byte is overwritten once, even if several secrets contain it. */
  mask(from: number, to: number): void {
    let end = to
    let start = from
    for (let last = this.#masked.at(-1); last && last.to >= from; last = this.#masked.at(-1)) {
      this.#overwrite(Math.max(last.to, from), end)
      end = Math.min(end, last.from)
      start = Math.min(start, last.from)
      this.#masked.pop()
    }
    this.#overwrite(from, end)
    this.#masked.push({ from: start, to })
  }

  /** Returns all bytes before this offset. */
  release(upTo: number): Buffer {
    const out: Buffer[] = []
    for (let piece = this.#pieces[this.#first]; piece && piece.from < upTo;) {
      const length = upTo - piece.from
      out.push(piece.bytes.subarray(0, length))
      if (length < piece.bytes.length) {
        piece.bytes = piece.bytes.subarray(length)
        piece.from = upTo
        break
      }
      piece = this.#pieces[++this.#first]
    }
    this.#forget(upTo)
    const [only, ...more] = out
    return only && more.length === 0 ? only : Buffer.concat(out)
  }

  /** Moves each piece a few times at most, however small the pieces are. */
  #forget(upTo: number): void {
    if (this.#first * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#first)
      this.#first = 0
    }
    while ((this.#masked[0]?.to ?? Number.POSITIVE_INFINITY) <= upTo) this.#masked.shift()
  }

  #overwrite(from: number, to: number): void {
    if (from >= to) return
    for (let i = this.#indexOf(from); i < this.#pieces.length; i++) {
      const piece = this.#pieces[i]
      if (!piece || piece.from >= to) return
      if (!piece.isOurs) {
        piece.bytes = Buffer.from(piece.bytes)
        piece.isOurs = true
      }
      const [start, end] = [from - piece.from, to - piece.from]
      piece.bytes.fill(star, Math.max(0, start), Math.min(end, piece.bytes.length))
    }
  }

  /** Index of the piece that contains this offset. */
  #indexOf(offset: number): number {
    let [low, high] = [this.#first, this.#pieces.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#pieces[middle]?.from ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
