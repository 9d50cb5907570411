/**
 * Overwrites secrets in texts from outside with `*`, so that announced lengths stay true. Found are the secret itself;
 * its spellings in JSON, URLs and forms, with any mixture of escapes and nested up to four times; and its Base64 within
 * a longer Base64 text (such as a Basic header), in one line or several. Not found are secrets of few bytes, other
 * encodings, and secrets that are cut into parts. The time depends only on the length of the text.
 */
import { Automaton } from './automaton.ts'
import { HeldBytes } from './held-bytes.ts'
import { EscapeReader } from './escape-reader.ts'
import { buildPatterns } from './spellings.ts'
import { CandidateIndex, CandidateSearch } from './candidates.ts'

/** Shortest secret that is masked, in bytes. */
const shortest = 8

/** Bytes in, bytes out. `end` returns the bytes that were held back. */
export type MaskFilter = { write(chunk: Buffer): Buffer; end(): Buffer }

export type Mask = {
  text(value: string): string
  /** Masks a header value, whose characters stand for bytes on the wire. */
  header(value: string): string
  filter(): MaskFilter
}

/** Undefined when no secret is long enough to be masked. */
export function createMask(
  secrets: readonly string[],
  { least = shortest }: { least?: number } = {},
): Mask | undefined {
  const patterns = buildPatterns(secrets, least)
  if (patterns.length === 0) return undefined
  const automaton = new Automaton(patterns)
  const candidates = new CandidateIndex(patterns)
  const longest = Math.max(...patterns.map(({ length }) => length))
  const filter = () => new MaskStream(automaton, candidates, longest)
  const ofTexts = filter()
  const masked = (value: string, encoding: 'utf8' | 'latin1'): string => {
    const bytes = Buffer.from(value, encoding)
    ofTexts.hasMasked = false
    const parts = [ofTexts.write(bytes), ofTexts.end()]
    return ofTexts.hasMasked ? Buffer.concat(parts).toString(encoding) : value
  }
  return {
    text: (value) => masked(value, 'utf8'),
    header: (value) => masked(value, 'latin1'),
    filter,
  }
}

class MaskStream implements MaskFilter {
  readonly #automaton: Automaton
  readonly #candidates: CandidateIndex
  readonly #held = new HeldBytes()
  readonly #reading = new EscapeReader((byte, from, to) => this.#see(byte, from, to))
  #state = 0
  /**
   * The automaton's state over the raw bytes. Needed because text before a secret may make its first byte look like
   * part of an escape.
   */
  #asCame = 0
  #cameUpTo = 0
  /** Start positions of the last bytes. */
  readonly #begins: Float64Array
  #seen = 0
  /** True when something was masked. */
  hasMasked = false

  constructor(automaton: Automaton, candidates: CandidateIndex, longest: number) {
    this.#automaton = automaton
    this.#candidates = candidates
    this.#begins = new Float64Array(2 ** Math.ceil(Math.log2(longest + 1)))
  }

  write(chunk: Buffer): Buffer {
    const begin = this.#held.to
    this.#held.add(chunk)
    const search = new CandidateSearch(this.#candidates, chunk)
    let at = 0
    while (at < chunk.length) {
      if (at >= search.to && this.#isIdle()) {
        search.next(at)
        if (search.from > at) this.#reading.part()
        at = search.from
      }
      const byte = chunk[at] ?? 0
      this.#look(byte, begin + at)
      this.#reading.push(byte, begin + at)
      at++
    }
    return this.#held.release(this.#shownUpTo())
  }

  end(): Buffer {
    this.#reading.end()
    this.#state = 0
    this.#asCame = 0
    return this.#held.release(this.#held.to)
  }

  #isIdle(): boolean {
    return this.#state === 0 && this.#asCame === 0 && !this.#reading.isBusy
  }

  #look(byte: number, at: number): void {
    this.#cameUpTo = at + 1
    this.#asCame = this.#automaton.next(this.#asCame, byte)
    const length = this.#automaton.longest[this.#asCame] ?? 0
    if (length === 0) return
    this.hasMasked = true
    this.#held.mask(at + 1 - length, at + 1)
  }

  #see(byte: number, from: number, to: number): void {
    const begins = this.#begins
    const last = begins.length - 1
    begins[this.#seen++ & last] = from
    this.#state = this.#automaton.next(this.#state, byte)
    const length = this.#automaton.longest[this.#state] ?? 0
    if (length === 0) return
    this.hasMasked = true
    this.#held.mask(begins[(this.#seen - length) & last] ?? 0, to)
  }

  /** The position up to which bytes can be released; later bytes may belong to a secret or an escape. */
  #shownUpTo(): number {
    const open = this.#automaton.open[this.#state] ?? 0
    const begins = this.#begins
    const begun =
      open > 0 ? (begins[(this.#seen - open) & (begins.length - 1)] ?? 0) : this.#held.to
    const openAsCame = this.#automaton.open[this.#asCame] ?? 0
    const begunAsCame = openAsCame > 0 ? this.#cameUpTo - openAsCame : this.#held.to
    return Math.min(begun, begunAsCame, this.#reading.heldFrom, this.#held.to)
  }
}
