/** Sends words of this process to the processes that read their topics. */
import type { TLSSocket } from 'node:tls'
import { countCharacters } from '../../core/text/characters.ts'
import type { BusMessage } from '../bus.ts'
import { largestMessage } from '../bus.ts'
import { encodeFrame, isTooLarge, topicParts } from './frames.ts'

/** Another process that reads topics of this one. */
export type ReadingProcess = {
  process: string
  socket: TLSSocket
  topics: Set<string>
  /** Topics whose words were dropped, which the reader does not know yet. */
  lost: Set<string>
}

export type Audience = {
  add(reader: ReadingProcess, topics: readonly string[]): void
  remove(reader: ReadingProcess, topics: Iterable<string>): void
  publish(topic: string, message: BusMessage): void
  /** True when a process reads the topic. */
  mayBeHeard(topic: string): boolean
}

/** `waitingBytes`: most unsent bytes of one process. Above them its further words are dropped. */
export function createAudience(waitingBytes: number): Audience {
  const byTopic = new Map<string, Set<ReadingProcess>>()

  /** After a dropped word, drops later ones until the reader knows of the gap: shown pieces join to a prefix. */
  function send(reader: ReadingProcess, topic: string, frame: Buffer | undefined): void {
    const { socket, lost } = reader
    if (frame && !lost.has(topic) && socket.writableLength <= waitingBytes) {
      socket.write(frame)
      return
    }
    lost.add(topic)
    if (!socket.writableNeedDrain) reportLost(reader)
  }

  return {
    add(reader, topics) {
      for (const topic of topics) {
        reader.topics.add(topic)
        byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(reader))
      }
    },
    remove(reader, topics) {
      for (const topic of topics) {
        reader.topics.delete(topic)
        reader.lost.delete(topic)
        const readers = byTopic.get(topic)
        readers?.delete(reader)
        if (readers?.size === 0) byTopic.delete(topic)
      }
    },
    mayBeHeard: (topic) => byTopic.has(topic),
    publish(topic, message) {
      const readers = byTopic.get(topic)
      if (!readers) return
      const frame = frameOf(topic, message)
      for (const reader of readers) send(reader, topic, frame)
    },
  }
}

/** Reports dropped words to the process. Call it when the unsent bytes have left. */
export function reportLost({ socket, lost }: ReadingProcess): void {
  for (const missed of topicParts([...lost])) socket.write(encodeFrame({ missed }))
  lost.clear()
}

/** Undefined for a message that is too large. Counts the characters first, because encoding megabytes takes long. */
function frameOf(topic: string, message: BusMessage): Buffer | undefined {
  if (countCharacters(message) > largestMessage) return undefined
  const frame = encodeFrame([topic, message])
  return isTooLarge(frame) ? undefined : frame
}
