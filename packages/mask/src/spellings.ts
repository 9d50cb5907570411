/**
 * The byte patterns of a secret, searched in the raw bytes and in the bytes that a `Reading` has decoded: the secret
 * itself, with spaces as in forms, as JSON and URLs usually spell it, and the Base64 of all these within a longer text.
 */
import { EscapeReader } from './escape-reader.ts'

function read(text: string): Buffer {
  if (!/[\\%\r\n]/.test(text)) return Buffer.from(text, 'utf8')
  const bytes: number[] = []
  const reading = new EscapeReader((byte) => void bytes.push(byte))
  for (const byte of Buffer.from(text, 'utf8')) reading.push(byte, 0)
  reading.end()
  return Buffer.from(bytes)
}

/** Leaves out secrets shorter than `least` bytes, which would match by accident. */
export function buildPatterns(secrets: readonly string[], least: number): Buffer[] {
  const texts = secrets.filter((secret) => Buffer.byteLength(secret) >= least)
  const plain = texts.flatMap((secret) => [secret, secret.replaceAll(' ', '+')])
  const spelled = [...new Set(texts.flatMap(spellings))]
  const literal = spelled.flatMap((text) => [text, text.replaceAll('/', '\\/')])
  const encoded = spelled.flatMap((text) => {
    const bytes = Buffer.from(text, 'utf8')
    return [0, 1, 2].flatMap((before) => inBase64(bytes, before))
  })
  const asCame = [...plain, ...literal].map((text) => Buffer.from(text, 'utf8'))
  const all = [...plain.map(read), ...asCame, ...encoded].filter(({ length }) => length >= least)
  return [...new Map(all.map((pattern) => [pattern.toString('latin1'), pattern])).values()]
}

/** Spellings within a text that is then encoded as Base64. */
function spellings(secret: string): string[] {
  const quoted = inJson(secret)
  return [secret, quoted, inJson(quoted)].flatMap((text) => [text, ...inUrls(text)])
}

/** Most secrets have only one spelling. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Spellings in URLs and forms, with upper-case and lower-case hexadecimal digits. */
const inUrls = (text: string): string[] =>
  [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams({ '': text }).toString().slice(1),
  ].flatMap((each) => [each, each.replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())])

/**
 * The part of the secret's Base64 that does not depend on its surroundings, with `before` bytes (0 to 2) before it in
 * its group of three.
 */
function inBase64(bytes: Buffer, before: number): Buffer[] {
  const shifted = Buffer.concat([Buffer.alloc(before), bytes])
  const whole = Math.floor((shifted.length * 8) / 6)
  const text = shifted.toString('base64').slice(Math.ceil((before * 8) / 6), whole)
  const ofUrls = text.replaceAll('+', '-').replaceAll('/', '_')
  return [...new Set([text, ofUrls])].map((each) => Buffer.from(each, 'latin1'))
}
