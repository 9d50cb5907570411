import type { Bus, BusMessage, FamilyChannel } from './bus.ts'
import { joinChannels, missedMessage } from './bus.ts'

type MessageListener = (message: BusMessage) => void
type FamilyListener = (topic: string, message: BusMessage) => void

export type MemoryChannel = FamilyChannel & {
  /** Publishes `missedMessage` on the topics, or on all. */
  miss(topics?: Iterable<string>): void
  /** The topics that have a subscriber. */
  topics(): Iterable<string>
  hasSubscriber(topic: string): boolean
}

/** A channel within one process. `note` is called when a topic gets its first subscriber and when it loses its last. */
export function memoryChannel(
  note: (topic: string, hasSubscriber: boolean) => void = () => {},
): MemoryChannel {
  // Most of very many topics have one subscriber, which takes less memory without a Set.
  const topics = new Map<string, MessageListener | Set<MessageListener>>()
  const families = new Map<string, Set<FamilyListener>>()

  function publish(topic: string, message: BusMessage): void {
    const hearers = topics.get(topic)
    if (typeof hearers === 'function') hearers(message)
    else for (const hear of hearers ?? []) hear(message)
    if (families.size > 0) publishInFamily(topic, message)
  }

  function publishInFamily(topic: string, message: BusMessage): void {
    const prefix = topic.slice(0, topic.indexOf(':') + 1)
    for (const hear of families.get(prefix) ?? []) hear(topic, message)
  }

  function hearEach(prefix: string, hear: FamilyListener): () => void {
    const hearers = families.get(prefix) ?? new Set()
    families.set(prefix, hearers.add(hear))
    return () => {
      hearers.delete(hear)
      if (hearers.size === 0 && families.get(prefix) === hearers) families.delete(prefix)
    }
  }

  function subscribe(topic: string, hear: MessageListener): () => void {
    const others = topics.get(topic)
    if (!others) topics.set(topic, hear)
    else if (typeof others === 'function') topics.set(topic, new Set([others, hear]))
    else others.add(hear)
    if (!others) note(topic, true)
    return () => unsubscribe(topic, hear)
  }

  function unsubscribe(topic: string, hear: MessageListener): void {
    const hearers = topics.get(topic)
    if (typeof hearers === 'object') hearers.delete(hear)
    const isLast = typeof hearers === 'object' ? hearers.size === 0 : hearers === hear
    if (!isLast) return
    topics.delete(topic)
    note(topic, false)
  }

  return {
    publish,
    subscribe,
    hearEach,
    miss(some) {
      for (const topic of some ?? topics.keys()) publish(topic, missedMessage)
      if (!some) for (const prefix of families.keys()) publishInFamily(prefix, missedMessage)
    },
    topics: () => topics.keys(),
    hasSubscriber: (topic) => topics.has(topic),
    mayBeHeard: (topic) => topics.has(topic),
    isOpen: () => true,
    close: async () => {},
  }
}

/** The bus of a single process. `miss` publishes `missedMessage` on every topic. */
export function memoryBus(): Bus & { miss(): void } {
  const [notifications, live] = [memoryChannel(), memoryChannel()]
  return {
    ...joinChannels(notifications, live),
    miss() {
      notifications.miss()
      live.miss()
    },
  }
}
