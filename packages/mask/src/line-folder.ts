/** Removes line ends and the indentation after them: mails and certificates wrap Base64 into lines. */
import type { ByteSink } from './unescape.ts'

/** Longest line end with its indentation, in bytes. */
const longest = 64
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]

export class LineFolder {
  readonly #out: ByteSink
  #length = 0

  constructor(out: ByteSink) {
    this.#out = out
  }

  /** True when a line has just ended. */
  get isBetween(): boolean {
    return this.#length > 0
  }

  /** Separates the text before from the text after. */
  part(): void {
    this.#length = 0
  }

  push(byte: number, from: number, to: number): void {
    const isEnd = byte === lineFeed || byte === carriageReturn
    if (isEnd || (this.#length > 0 && (byte === space || byte === tab))) {
      // Longer than a line end: the text is separated here.
      if (++this.#length > longest) this.#out(lineFeed, from, to)
      return
    }
    this.#length = 0
    this.#out(byte, from, to)
  }
}
