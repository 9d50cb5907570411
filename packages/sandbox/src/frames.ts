/**
 * The protocol between the server and the daemon inside a sandbox: frames of
 * `u32 length · u8 type · u32 id · payload`, little endian; the length counts type and id.
 * The daemon is not trusted: a reply that cannot be true ends the sandbox.
 */

export const protocolVersion = 3
export const maxRequestBytes = 1 << 20
export const maxDataBytes = 64 << 10
const headerBytes = 5

export const requestKinds = {
  exec: 1,
  kill: 2,
  killAll: 3,
  read: 4,
  write: 5,
  writeData: 6,
  writeEnd: 7,
  walk: 8,
  remove: 9,
  peek: 10,
} as const
export type RequestType = (typeof requestKinds)[keyof typeof requestKinds]

/** `ready` comes once, first, with id 0. `data` frames come before the one frame that answers a request. */
export const replyKinds = { ready: 64, data: 65, exited: 66, done: 67, failed: 68 } as const
export type ReplyType = (typeof replyKinds)[keyof typeof replyKinds]

export type Frame = { type: ReplyType; id: number; payload: Buffer }

/** The other side broke the protocol. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

const replyTypes: ReadonlySet<number> = new Set(Object.values(replyKinds))
const isReplyType = (value: number): value is ReplyType => replyTypes.has(value)

type FramePart = Uint8Array | string | number | bigint | readonly string[]

/** Numbers are u32, bigints u64, strings end with NUL, a list is its length and its strings. */
function encodePart(part: FramePart): Uint8Array {
  if (part instanceof Uint8Array) return part
  if (typeof part === 'string') {
    if (part.includes('\0')) throw new FrameError('a string holds a NUL')
    return Buffer.from(`${part}\0`)
  }
  if (typeof part === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(part)
    return bytes
  }
  if (typeof part === 'bigint') {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(part)
    return bytes
  }
  return Buffer.concat([encodePart(part.length), ...part.map(encodePart)])
}

/** Throws `FrameError` for a request that the daemon would refuse. */
export function encodeRequest(type: RequestType, id: number, parts: readonly FramePart[]): Buffer {
  const payload = parts.map(encodePart)
  const size = payload.reduce((sum, part) => sum + part.length, headerBytes)
  if (size > maxRequestBytes) throw new FrameError(`a request of ${size} bytes is too large`)
  const header = Buffer.alloc(4 + headerBytes)
  header.writeUInt32LE(size)
  header.writeUInt8(type, 4)
  header.writeUInt32LE(id, 5)
  return Buffer.concat([header, ...payload])
}

function decodeFrame(body: Buffer): Frame {
  const type = body.readUInt8(0)
  if (!isReplyType(type)) throw new FrameError(`a frame has the unknown type ${type}`)
  return { type, id: body.readUInt32LE(1), payload: body.subarray(headerBytes) }
}

/**
 * Cuts a stream of bytes into frames. Holds at most one frame of the largest size. Throws `FrameError` at the first
 * malformed frame, without waiting for its rest. A payload is valid until the next call.
 */
export function frameDecoder(): (chunk: Buffer) => Generator<Frame, void> {
  let rest: Buffer = Buffer.alloc(0)
  return function* decode(chunk) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (bytes.length >= 4) {
      const length = bytes.readUInt32LE(0)
      if (length < headerBytes || length > headerBytes + maxDataBytes) {
        throw new FrameError(`a frame claims ${length} bytes`)
      }
      if (bytes.length < 4 + length) break
      yield decodeFrame(bytes.subarray(4, 4 + length))
      bytes = bytes.subarray(4 + length)
    }
    rest = Buffer.from(bytes)
  }
}
