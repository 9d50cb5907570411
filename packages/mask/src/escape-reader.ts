/** Decodes a stream of bytes: removes escapes of JSON and URLs, and line ends. */
import { LineFolder } from './line-folder.ts'
import type { ByteSink, OpenEscapes } from './unescape.ts'
import { EscapeLevel } from './unescape.ts'

/** Nested levels of JSON or URLs in which every character may be escaped. */
const levels = 4

const isPlain = new Uint8Array(256).fill(1)
for (const byte of '\\%\r\n') isPlain[byte.charCodeAt(0)] = 0

export class EscapeReader {
  readonly #out: ByteSink
  readonly #folded: LineFolder
  /** The outermost level first. */
  readonly #levels: EscapeLevel[] = []
  readonly #waiting: OpenEscapes = { count: 0 }

  constructor(out: ByteSink) {
    this.#out = out
    this.#folded = new LineFolder(out)
    let sink: ByteSink = (byte, from, to) => this.#folded.push(byte, from, to)
    for (let level = 0; level < levels; level++) {
      const inner = new EscapeLevel(sink, this.#waiting)
      sink = (byte, from, to) => inner.push(byte, from, to)
      this.#levels.unshift(inner)
    }
  }

  /** Reads the byte at position `at`. */
  push(byte: number, at: number): void {
    if (isPlain[byte] === 1 && this.#waiting.count === 0 && !this.#folded.isBetween)
      this.#out(byte, at, at + 1)
    else this.#levels[0]?.push(byte, at, at + 1)
  }

  /** Separates the text before from the text after. */
  part(): void {
    this.#folded.part()
  }

  /** Call at the end of the stream: releases the bytes that are held back. */
  end(): void {
    for (const level of this.#levels) level.end()
    this.#folded.part()
  }

  /** True when part of an escape is held back. */
  get isBusy(): boolean {
    return this.#waiting.count > 0
  }

  /** Position of the first byte that is held back. */
  get heldFrom(): number {
    if (this.#waiting.count === 0) return Number.POSITIVE_INFINITY
    return Math.min(...this.#levels.map((level) => level.heldFrom))
  }
}
