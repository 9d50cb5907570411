/** What travels: plain JSON, small where it can be. */
export type BusMessage = { [key: string]: unknown }

/** Said on a topic when messages of other processes may have been lost on it: whoever hears it looks for itself. */
export const missed = { missed: true } as const
export const isMissed = (message: BusMessage): boolean => message['missed'] === true

/** Rings other processes. At most once, nothing kept: whoever must not miss a thing reads the log. */
export interface Bus {
  /** Heard by every subscriber of every process, this one's before the call returns; never throws. */
  publish(topic: string, message: BusMessage): void
  /** The returned function ends the subscription. */
  subscribe(topic: string, hear: (message: BusMessage) => void): () => void
  /** Whether other processes are heard now. */
  isOpen(): boolean
  close(): Promise<void>
}
