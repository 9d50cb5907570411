/** The ASN.1 types of a certificate, in DER. X.690 */

export function encodeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

export const derSequence = (...parts: readonly Uint8Array[]): Buffer => encodeDer(0x30, ...parts)
export const derSet = (part: Uint8Array): Buffer => encodeDer(0x31, part)
export const derOctets = (content: Uint8Array): Buffer => encodeDer(0x04, content)
export const derBits = (content: Uint8Array, unused = 0): Buffer =>
  encodeDer(0x03, Buffer.of(unused), content)
export const derUtf8 = (text: string): Buffer => encodeDer(0x0c, Buffer.from(text))
export const derTrue = encodeDer(0x01, Buffer.of(0xff))

/** `value`: big-endian and not negative. */
export function derInteger(value: Uint8Array): Buffer {
  let start = 0
  while (start < value.length - 1 && value[start] === 0) start++
  const shortest = value.subarray(start)
  return encodeDer(0x02, (shortest[0] ?? 0) > 127 ? Buffer.of(0) : Buffer.of(), shortest)
}

/** `dotted`: for example `1.2.840.10045.2.1`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc % 128]
    for (let more = Math.floor(arc / 128); more > 0; more = Math.floor(more / 128)) {
      groups.unshift(0x80 | (more % 128))
    }
    return groups
  })
  return encodeDer(0x06, Buffer.from(bytes))
}

/** Two digits for the year until 2049, four from then on. RFC 5280 4.1.2.5 */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')
  return digits < '2050'
    ? encodeDer(0x17, Buffer.from(digits.slice(2)))
    : encodeDer(0x18, Buffer.from(digits))
}
