/** What tabs and their one connection say to each other. Plain data: it crosses threads. */

/** What a tab wants to hear. `after`: the place in the log behind which it wants the events of a session. */
export type Wish =
  | { kind: 'workspace'; isWanted: boolean }
  | { kind: 'follow'; session: string; after: number }
  | { kind: 'unfollow'; session: string }

export type News =
  /** A change of the workspace, `stream.changed` and others, or an event of a followed session. */
  | { kind: 'data'; data: StreamData }
  | { kind: 'heard' }
  | { kind: 'lost' }
  /** The service refuses the stream, or one session of it, for good. */
  | { kind: 'refused'; session?: string; message: string; isSignedOut?: boolean }

export type StreamData = {
  type: string
  id?: string
  session_id?: string
  seq?: number | null
  object?: object
}
