/**
 * Secrets out of answers: every occurrence is overwritten with `*`, so that lengths stay as announced. Found are the
 * secret itself and its spelling in JSON and in JSON within JSON; each of them also as a URL or a form spells it; and
 * the Base64 of all these at any place of a longer Base64 text (a Basic header for one). Not found: secrets of fewer
 * than 8 bytes, other encodings, and secrets that an upstream cuts up.
 */
const least = 8
const star = 0x2a

/** Bytes in, bytes out; `end` gives what was held back. */
export type Filter = { write(chunk: Buffer): Buffer; end(): Buffer }

export type Mask = { text(value: string): string; filter(): Filter }

/** Undefined when nothing of it can be masked. */
export function maskOf(secrets: readonly string[]): Mask | undefined {
  const patterns = [...new Set(secrets.flatMap(spellings))]
    .filter((pattern) => pattern.length >= least)
    .map((pattern) => Buffer.from(pattern, 'latin1'))
  if (patterns.length === 0) return undefined
  return {
    text(value) {
      const bytes = Buffer.from(value, 'latin1')
      const found = occurrences(bytes, patterns)
      if (found.length === 0) return value
      for (const [from, to] of found) bytes.fill(star, from, to)
      return bytes.toString('latin1')
    },
    filter: () => maskingFilter(patterns),
  }
}

/** Latin-1 text that stands for the bytes on the wire. */
function spellings(secret: string): string[] {
  if (Buffer.byteLength(secret) < least) return []
  const quoted = inJson(secret)
  const texts = new Set([secret, quoted, inJson(quoted)].flatMap((text) => [text, ...inUrls(text)]))
  return [...texts].flatMap((text) => {
    const bytes = Buffer.from(text, 'utf8')
    return [bytes.toString('latin1'), ...[0, 1, 2].flatMap((before) => inBase64(bytes, before))]
  })
}

/** Most secrets are spelled in one way only, and then cost no more. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As parts of a URL and of a form, in large digits and in small ones. */
const inUrls = (text: string): string[] =>
  [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams({ '': text }).toString().slice(1),
  ].flatMap((each) => [each, each.replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())])

/** What stays the same of the secret's Base64 when so many bytes (of three) stand before it, whatever follows. */
function inBase64(bytes: Buffer, before: number): string[] {
  const shifted = Buffer.concat([Buffer.alloc(before), bytes])
  const whole = Math.floor((shifted.length * 8) / 6)
  const text = shifted.toString('base64').slice(Math.ceil((before * 8) / 6), whole)
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')]
}

function occurrences(bytes: Buffer, patterns: readonly Buffer[]): [from: number, to: number][] {
  const found: [number, number][] = []
  for (const pattern of patterns) {
    let at = bytes.indexOf(pattern)
    while (at !== -1) {
      found.push([at, at + pattern.length])
      at = bytes.indexOf(pattern, at + 1)
    }
  }
  return found
}

/** How many bytes at the end may be the beginning of a secret. */
function openEnd(bytes: Buffer, patterns: readonly Buffer[]): number {
  let longest = 0
  for (const pattern of patterns) {
    const first = pattern[0] ?? 0
    let at = bytes.indexOf(first, Math.max(0, bytes.length - pattern.length + 1))
    while (at !== -1 && bytes.length - at > longest) {
      if (bytes.compare(pattern, 0, bytes.length - at, at) === 0) longest = bytes.length - at
      else at = bytes.indexOf(first, at + 1)
    }
  }
  return longest
}

const nothing = Buffer.alloc(0)

function maskingFilter(patterns: readonly Buffer[]): Filter {
  /** The end of what came, as it came and as it will be shown: one secret may begin within another. */
  let came: Buffer = nothing
  let shown: Buffer = nothing
  return {
    write(chunk) {
      const bytes = came.length > 0 ? Buffer.concat([came, chunk]) : chunk
      const found = occurrences(bytes, patterns)
      const held = openEnd(bytes, patterns)
      let masked = bytes
      if (found.length > 0 || shown.length > 0) {
        masked = Buffer.concat([shown, chunk])
        for (const [from, to] of found) masked.fill(star, from, to)
      }
      const cut = bytes.length - held
      came = bytes.subarray(cut)
      shown = masked.subarray(cut)
      return masked.subarray(0, cut)
    },
    end() {
      const rest = shown
      came = nothing
      shown = nothing
      return rest
    },
  }
}
