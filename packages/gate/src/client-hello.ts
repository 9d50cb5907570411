/** Reads the first message of a TLS client, before any answer. RFC 8446 4.1.2, RFC 6066 3, RFC 7301 */

export type ClientHello = {
  /** The name as the client sent it; undefined when the client names no server. */
  serverName: string | undefined
  /** The protocols in the client's order; undefined when the client names none. */
  protocols: string[] | undefined
}

/** `more`: the bytes end within the message. `other`: not TLS. `malformed`: TLS, but no valid client hello. */
export type FirstBytes =
  | { kind: 'hello'; hello: ClientHello }
  | { kind: 'more' | 'other' | 'malformed' }

const handshakeRecord = 22
const clientHello = 1
/** Post-quantum keys take 2 KB. */
const largestHello = 16 * 1024
const mostRecords = 64

/** The message may be split over several records. */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return { kind: 'more' }
  if (bytes[0] !== handshakeRecord) return { kind: 'other' }
  const message = firstMessage(bytes)
  if (typeof message === 'string') return { kind: message }
  const hello = message[0] === clientHello && readHello(new Cursor(message.subarray(4)))
  return hello ? { kind: 'hello', hello } : { kind: 'malformed' }
}

function firstMessage(bytes: Buffer): Buffer | 'more' | 'malformed' {
  let message = Buffer.alloc(0)
  for (let at = 0, records = 0; records < mostRecords; records++) {
    if (bytes.length > at + 1 && (bytes[at] !== handshakeRecord || bytes[at + 1] !== 3)) {
      return 'malformed'
    }
    if (bytes.length < at + 5) return 'more'
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > largestHello) return 'malformed'
    message = Buffer.concat([message, bytes.subarray(at + 5, at + 5 + length)])
    at += 5 + length
    if (message.length < 4) continue
    const need = 4 + message.readUIntBE(1, 3)
    if (need > largestHello) return 'malformed'
    if (message.length >= need) return message.subarray(0, need)
  }
  return 'malformed'
}

/** Reading past the end gives empty parts and sets `isBroken`. */
class Cursor {
  readonly #bytes: Buffer
  #at = 0
  isBroken = false
  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }
  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }
  number(size: 1 | 2): number {
    const part = this.part(size)
    return part.length === size ? part.readUIntBE(0, size) : 0
  }
  part(size: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + size)
    this.#at += size
    if (part.length < size) this.isBroken = true
    return part
  }
  /** A part that is preceded by its length. */
  vector(sizeOfLength: 1 | 2): Cursor {
    return new Cursor(this.part(this.number(sizeOfLength)))
  }
  get rest(): string {
    return this.part(this.#bytes.length - this.#at).toString('latin1')
  }
}

function readHello(message: Cursor): ClientHello | undefined {
  message.part(2 + 32)
  message.vector(1)
  message.vector(2)
  message.vector(1)
  const hello: ClientHello = { serverName: undefined, protocols: undefined }
  if (message.isAtEnd) return message.isBroken ? undefined : hello
  const extensions = message.vector(2)
  const seen = new Set<number>()
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    // A repeated extension could be read in two ways.
    if (extensions.isBroken || seen.has(type)) return undefined
    seen.add(type)
    if (type === 0 && !readName(content, hello)) return undefined
    if (type === 16 && !readProtocols(content, hello)) return undefined
  }
  return message.isBroken || !message.isAtEnd ? undefined : hello
}

function readName(content: Cursor, hello: ClientHello): boolean {
  const names = content.vector(2)
  const type = names.number(1)
  hello.serverName = names.vector(2).rest
  return type === 0 && names.isAtEnd && !names.isBroken && !content.isBroken && content.isAtEnd
}

function readProtocols(content: Cursor, hello: ClientHello): boolean {
  const list = content.vector(2)
  const protocols: string[] = []
  while (!list.isAtEnd) protocols.push(list.vector(1).rest)
  hello.protocols = protocols
  return !list.isBroken && !content.isBroken && content.isAtEnd
}
