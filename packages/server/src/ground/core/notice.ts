/** What all processes hear after a commit. `isLive`: goes to readers of the topic alone, on the channel of live words. */
export type Notice = { topic: string; message: { [key: string]: unknown }; isLive?: boolean }

export type PublishNotice = (notice: Notice) => void

export type Notifying = {
  /** Publishes the notice when the unit is committed. A unit that is rolled back, or runs again, publishes nothing. */
  afterCommit(notice: Notice): void
}
