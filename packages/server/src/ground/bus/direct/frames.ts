/** What processes say to each other over a direct connection: JSON texts, each behind its length. */
import { z } from 'zod'
import { isPeerPlace } from '../../core/peer-place.ts'
import { largestMessage } from '../bus.ts'

const headBytes = 4
/** Escapes make the text of a message longer than the message. */
const largestFrame = 2 * largestMessage
const mostTopics = 1_000

const Name = z.string().min(1).max(200)
const Topics = z.array(Name).max(mostTopics)
export const Addresses = z.array(z.string().max(300).refine(isPeerPlace)).max(16)

const ReaderHello = z.strictObject({ from: Name, to: Name, addresses: Addresses })
export type ReaderHello = z.infer<typeof ReaderHello>

/** By the process that reads, which opened the connection. `to`: a port may have been given to another process meanwhile. */
export const ReaderFrame = z.union([
  z.strictObject({ hello: ReaderHello }),
  /** Topics that have a subscriber there from now on, and topics that have none. */
  z.strictObject({ read: Topics, leave: Topics }),
])

/** By the process that publishes. */
export const PublisherFrame = z.union([
  z.tuple([Name, z.record(z.string(), z.unknown())]),
  z.strictObject({ hello: z.strictObject({ from: Name }) }),
  /** Topics on which words were left out. */
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

/** A sign of life. */
export const emptyFrame = Buffer.alloc(headBytes)

/** Topics in as many parts as their frames need. */
export const topicParts = (topics: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(topics.length / mostTopics) }, (_, part) =>
    topics.slice(part * mostTopics, (part + 1) * mostTopics),
  )

/**
 * Takes bytes as they come and gives the frames, parsed and checked. Throws for what no process of this version says: a frame
 * beyond the bound before it has come, and one of another form.
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
