/** What travels: plain JSON, small where it can be. */
export type BusMessage = { [key: string]: unknown }

/** Said on a topic when messages of other processes may have been lost on it: whoever hears it looks for itself. */
export const missedMessage = { missed: true } as const
export const isMissed = (message: BusMessage): boolean => message['missed'] === true

/** Characters and bytes of the largest message that leaves its process. */
export const largestMessage = 256 * 1024

/** Carries messages to all processes. At most once, nothing kept: whoever must not miss a thing reads the log. */
export interface Channel {
  /** Heard by every subscriber of every process, this one's before the call returns; never throws. */
  publish(topic: string, message: BusMessage): void
  /** The returned function ends the subscription. */
  subscribe(topic: string, hear: (message: BusMessage) => void): () => void
  /** Whether other processes are heard now. */
  isOpen(): boolean
  close(): Promise<void>
}

/** The channel of notifications, which are few and small, and beside it that of live words: the text of answers as it comes. */
export interface Bus extends Channel {
  /** Costs its sender next to nothing where no other process has a subscriber of the topic. */
  readonly live: Channel
}

/** `live` closes first, as it may use the other. */
export const busOf = (notifications: Channel, live: Channel): Bus => ({
  ...notifications,
  live,
  async close() {
    await live.close()
    await notifications.close()
  },
})
