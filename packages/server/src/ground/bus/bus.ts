/** A message: plain JSON, as small as it can be. */
export type BusMessage = { [key: string]: unknown }

/** Published on a topic when messages of other processes may be lost. Subscribers then read the log themselves. */
export const missedMessage = { missed: true } as const
export const isMissed = (message: BusMessage): boolean => message['missed'] === true

/** Characters and bytes of the largest message that leaves its process. */
export const largestMessage = 256 * 1024

/** Carries messages to all processes, at most once and without storing them. Only the log loses nothing. */
export interface Channel {
  /** Calls the subscribers of every process, those of this process before it returns. Never throws. */
  publish(topic: string, message: BusMessage): void
  /** The returned function ends the subscription. */
  subscribe(topic: string, hear: (message: BusMessage) => void): () => void
  /** False when the topic has no subscriber in any process. True where that is not known. */
  mayBeHeard(topic: string): boolean
  /** True while messages of other processes arrive. */
  isOpen(): boolean
  close(): Promise<void>
}

/** A channel in which every message reaches every process. */
export type FamilyChannel = Channel & Pick<Bus, 'hearEach'>

/** The channel of notifications, few and small, and the channel of live words: answers while the model writes them. */
export interface Bus extends Channel {
  /**
   * Hears every message whose topic begins with `prefix`, which ends with a colon, from every process. Missed messages
   * come with the prefix as their topic.
   */
  hearEach(prefix: string, hear: (topic: string, message: BusMessage) => void): () => void
  /** Sends almost nothing while no other process subscribes to the topic. */
  readonly live: Channel
}

/** Joins two channels. `live` closes first, because it may use `notifications`. */
export const joinChannels = (notifications: FamilyChannel, live: Channel): Bus => ({
  ...notifications,
  live,
  async close() {
    await live.close()
    await notifications.close()
  },
})
