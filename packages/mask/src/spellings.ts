/**
 * What is looked for, in the bytes as they came and after a `Reading` has taken off what JSON, URLs and line ends add:
 * the secret itself, as a form spells its spaces, as JSON and URLs usually spell it, and the Base64 of all these at any
 * place of a longer text.
 */
import { Reading } from './reading.ts'

function read(text: string): Buffer {
  if (!/[\\%\r\n]/.test(text)) return Buffer.from(text, 'utf8')
  const bytes: number[] = []
  const reading = new Reading((byte) => void bytes.push(byte))
  for (const byte of Buffer.from(text, 'utf8')) reading.push(byte, 0)
  reading.end()
  return Buffer.from(bytes)
}

/** Secrets of fewer than `least` bytes would be found where they are not meant. */
export function patternsOf(secrets: readonly string[], least: number): Buffer[] {
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

/** As a text that is then put into Base64 may have it. */
function spellings(secret: string): string[] {
  const quoted = inJson(secret)
  return [secret, quoted, inJson(quoted)].flatMap((text) => [text, ...inUrls(text)])
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
function inBase64(bytes: Buffer, before: number): Buffer[] {
  const shifted = Buffer.concat([Buffer.alloc(before), bytes])
  const whole = Math.floor((shifted.length * 8) / 6)
  const text = shifted.toString('base64').slice(Math.ceil((before * 8) / 6), whole)
  const ofUrls = text.replaceAll('+', '-').replaceAll('/', '_')
  return [...new Set([text, ofUrls])].map((each) => Buffer.from(each, 'latin1'))
}
