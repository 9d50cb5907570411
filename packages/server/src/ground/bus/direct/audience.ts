/** Which processes read which topics of this one, and the words on their way to them. */
import type { TLSSocket } from 'node:tls'
import { countCharacters } from '../../core/characters.ts'
import type { BusMessage } from '../bus.ts'
import { largestMessage } from '../bus.ts'
import { encodeFrame, isTooLarge, topicParts } from './frames.ts'

/** One process that reads. */
export type ReadingProcess = {
  process: string
  socket: TLSSocket
  topics: Set<string>
  /** Topics on which it lost words and does not know it yet. */
  lost: Set<string>
}

export type Audience = {
  add(reader: ReadingProcess, topics: readonly string[]): void
  remove(reader: ReadingProcess, topics: Iterable<string>): void
  publish(topic: string, message: BusMessage): void
}

/** `waitingBytes` may wait for one process; further words for it are dropped. */
export function createAudience(waitingBytes: number): Audience {
  const byTopic = new Map<string, Set<ReadingProcess>>()

  /** A word behind a dropped one waits until the reader knows of the gap: what readers are shown joins to a prefix. */
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
    publish(topic, message) {
      const readers = byTopic.get(topic)
      if (!readers) return
      const frame = frameOf(topic, message)
      for (const reader of readers) send(reader, topic, frame)
    },
  }
}

/** Call when what waited for the process has left. */
export function reportLost({ socket, lost }: ReadingProcess): void {
  for (const missed of topicParts([...lost])) socket.write(encodeFrame({ missed }))
  lost.clear()
}

/** Undefined for a message above the bound. It is looked at before it is made text, which for megabytes takes long. */
function frameOf(topic: string, message: BusMessage): Buffer | undefined {
  if (countCharacters(message) > largestMessage) return undefined
  const frame = encodeFrame([topic, message])
  return isTooLarge(frame) ? undefined : frame
}
