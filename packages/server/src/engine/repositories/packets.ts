/** Git's packet lines: four hexadecimal digits of length, then the bytes. gitprotocol-common(5) */

export const flushPacket = '0000'

export const encodePacket = (text: string): string =>
  (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text

/** Yields null for a flush packet. Throws on malformed packets, and when the bytes end within a packet. */
export async function* decodePackets(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer | null, void, void> {
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let at = 0
    while (held.length - at >= 4) {
      const length = lengthOf(held, at)
      if (length === 0) {
        yield null
        at += 4
        continue
      }
      if (held.length - at < length) break
      yield held.subarray(at + 4, at + length)
      at += length
    }
    held = held.subarray(at)
  }
  if (held.length > 0) throw new Error('the answer ends within a packet')
}

function lengthOf(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + 4)
  const length = /^[\da-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
  if (length !== 0 && length < 4) throw new Error('the answer is not of the git protocol')
  return length
}
