/** What travels: plain JSON, small where it can be. */
export type BusMessage = { [key: string]: unknown }

/** Rings other processes. At most once, nothing kept: whoever must not miss a thing reads the log. */
export interface Bus {
  /** Heard by every subscriber of every process, this one's before the call returns; never throws. */
  publish(topic: string, message: BusMessage): void
  /** The returned function ends the subscription. */
  subscribe(topic: string, hear: (message: BusMessage) => void): () => void
  close(): Promise<void>
}
