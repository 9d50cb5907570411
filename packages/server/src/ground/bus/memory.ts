import type { Bus, BusMessage } from './bus.ts'
import { missed } from './bus.ts'

type Hear = (message: BusMessage) => void

/** One process. `miss` says on every topic that messages may have been lost. */
export function memoryBus(): Bus & { miss(): void } {
  const topics = new Map<string, Set<Hear>>()
  return {
    publish(topic, message) {
      for (const hear of topics.get(topic) ?? []) hear(message)
    },
    subscribe(topic, hear) {
      const hearers = topics.get(topic) ?? new Set()
      topics.set(topic, hearers.add(hear))
      return () => {
        hearers.delete(hear)
        if (hearers.size === 0 && topics.get(topic) === hearers) topics.delete(topic)
      }
    },
    miss() {
      for (const hearers of topics.values()) for (const hear of hearers) hear(missed)
    },
    isOpen: () => true,
    close: async () => {},
  }
}
