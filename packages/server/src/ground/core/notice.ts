/** What all processes hear after a commit. `isLive`: goes to readers of the topic alone, on the channel of live words. */
export type Notice = { topic: string; message: { [key: string]: unknown }; isLive?: boolean }

export type PublishNotice = (notice: Notice) => void
