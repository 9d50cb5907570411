/** Frames of a direct connection between processes: JSON texts, each after its length. */
import { z } from 'zod'
import { isPeerAddress } from '../../core/peer-address.ts'
import { largestMessage } from '../bus.ts'

const headBytes = 4
/** Escapes make the text of a message longer than the message. */
const largestFrame = 2 * largestMessage
const mostTopics = 1_000

const Name = z.string().min(1).max(200)
const Topics = z.array(Name).max(mostTopics)
export const Addresses = z.array(z.string().max(300).refine(isPeerAddress)).max(16)

const ReaderHello = z.strictObject({ from: Name, to: Name, addresses: Addresses })
export type ReaderHello = z.infer<typeof ReaderHello>

/** Frames of the reading process, which opens the connection. `to`: the port may belong to another process now. */
export const ReaderFrame = z.union([
  z.strictObject({ hello: ReaderHello }),
  /** Topics that got a subscriber there, and topics that lost their last one. */
  z.strictObject({ read: Topics, leave: Topics }),
])

/** Frames of the publishing process. */
export const PublisherFrame = z.union([
  z.tuple([Name, z.record(z.string(), z.unknown())]),
  z.strictObject({ hello: z.strictObject({ from: Name }) }),
  /** Topics whose words were dropped. */
  z.strictObject({ missed: Topics }),
])

type PeerFrame = z.infer<typeof ReaderFrame> | z.infer<typeof PublisherFrame>

export function encodeFrame(frame: PeerFrame): Buffer {
  const text = JSON.stringify(frame)
  const bytes = Buffer.allocUnsafe(headBytes + Buffer.byteLength(text))
  bytes.writeUInt32BE(bytes.length - headBytes)
  bytes.write(text, headBytes)
  return bytes
}

export const isTooLarge = (frame: Buffer): boolean => frame.length - headBytes > largestFrame

/** A frame without content, as a heartbeat. */
export const emptyFrame = Buffer.alloc(headBytes)

/** Splits topics into parts that each fit a frame. */
export const topicParts = (topics: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(topics.length / mostTopics) }, (_, part) =>
    topics.slice(part * mostTopics, (part + 1) * mostTopics),
  )

/**
 * Decodes frames from bytes and passes them to `hear`, parsed and checked. Throws for a frame of another form, and for
 * a frame that is too long, before its bytes arrive.
 */
export function frameDecoder<Said>(form: z.ZodType<Said>, hear: (said: Said) => void) {
  let waiting: Buffer[] = []
  let size = 0

  const join = (): Buffer => {
    const [first = Buffer.alloc(0)] = waiting
    const all = waiting.length > 1 ? Buffer.concat(waiting) : first
    waiting = [all]
    return all
  }

  return (bytes: Buffer): void => {
    waiting.push(bytes)
    size += bytes.length
    while (size >= headBytes) {
      const [first] = waiting
      const length = (first && first.length >= headBytes ? first : join()).readUInt32BE()
      if (length > largestFrame) throw new Error(`a frame of ${length} bytes`)
      if (size < headBytes + length) return
      const all = join()
      const text = all.toString('utf8', headBytes, headBytes + length)
      waiting = [all.subarray(headBytes + length)]
      size -= headBytes + length
      if (length > 0) hear(form.parse(JSON.parse(text)))
    }
  }
}
