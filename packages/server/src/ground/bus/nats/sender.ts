/** Sends words to a NATS server, which may be slow or away. Readers learn of dropped words before any later word. */
import type { NatsConnection } from '@nats-io/transport-node'
import { countCharacters } from '../../core/text/characters.ts'
import type { BusMessage } from '../bus.ts'
import { largestMessage, missedMessage } from '../bus.ts'

/** Most topics that are remembered as having lost words. The oldest is forgotten first. */
const mostLost = 100_000

export const subjectOf = (topic: string): string =>
  `steward.live.${topic.replaceAll(/[^\w-]/g, '.')}`

export type NatsSender = {
  publish(topic: string, message: BusMessage): void
  isConnected(): boolean
  setConnected(isConnected: boolean): void
}

/** `waitingBytes`: most unconfirmed bytes. Above them further words are dropped. */
export function createSender(connection: NatsConnection, waitingBytes: number): NatsSender {
  const lost = new Set<string>()
  /** Words that were sent since the last request for a confirmation. */
  let latest = { topics: new Set<string>(), bytes: 0 }
  /** Words whose confirmation is pending. */
  let asked: typeof latest | undefined
  let isConnected = true

  function send(topic: string, bytes: Uint8Array): void {
    connection.publish(subjectOf(topic), bytes)
    latest.topics.add(topic)
    latest.bytes += bytes.length
  }

  function drop(topic: string): void {
    lost.delete(topic)
    lost.add(topic)
    const [oldest] = lost
    if (lost.size > mostLost && oldest !== undefined) lost.delete(oldest)
  }

  /** Asks the server for confirmations, one at a time, while there are new words. */
  async function confirm(): Promise<void> {
    while (isConnected && !asked && !connection.isClosed() && latest.bytes + lost.size > 0) {
      for (const topic of lost) send(topic, missedBytes)
      lost.clear()
      asked = latest
      latest = { topics: new Set(), bytes: 0 }
      const isConfirmed = await connection.flush().then(
        () => true,
        () => false,
      )
      if (!isConfirmed) for (const topic of asked.topics) drop(topic)
      asked = undefined
    }
  }

  return {
    publish(topic, message) {
      const waiting = latest.bytes + (asked?.bytes ?? 0)
      const isHeldBack = !isConnected || lost.has(topic) || waiting > waitingBytes
      const bytes = isHeldBack ? undefined : bytesOf(message, connection)
      // After a dropped word, drops later ones until readers know of the gap, so that shown pieces join to a prefix.
      if (bytes) send(topic, bytes)
      else drop(topic)
      void confirm()
    },
    isConnected: () => isConnected,
    setConnected(isNow) {
      isConnected = isNow
      if (isNow) return void confirm()
      for (const topic of latest.topics) drop(topic)
      latest = { topics: new Set(), bytes: 0 }
    },
  }
}

const missedBytes = Buffer.from(JSON.stringify(missedMessage))

/** Undefined for a message that is too large. Counts the characters first, because encoding megabytes takes long. */
function bytesOf(message: BusMessage, { info }: NatsConnection): Buffer | undefined {
  if (countCharacters(message) > largestMessage) return undefined
  const bytes = Buffer.from(JSON.stringify(message))
  const most = Math.min(2 * largestMessage, info?.max_payload ?? Infinity)
  return bytes.length > most ? undefined : bytes
}
