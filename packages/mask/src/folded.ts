/** Line ends and the indentation that follows them, taken off: Base64 is written in lines, in mails and certificates. */
import type { Sink } from './unescape.ts'

/** Of a line end with its indentation, in bytes. */
const longest = 64
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]

export class Folded {
  readonly #out: Sink
  #length = 0

  constructor(out: Sink) {
    this.#out = out
  }

  /** Whether a line has just ended. */
  get isBetween(): boolean {
    return this.#length > 0
  }

  /** What comes next does not go on with what came. */
  part(): void {
    this.#length = 0
  }

  push(byte: number, from: number, to: number): void {
    const isEnd = byte === lineFeed || byte === carriageReturn
    if (isEnd || (this.#length > 0 && (byte === space || byte === tab))) {
      // More than a line end stands between what came before and what follows.
      if (++this.#length > longest) this.#out(lineFeed, from, to)
      return
    }
    this.#length = 0
    this.#out(byte, from, to)
  }
}
