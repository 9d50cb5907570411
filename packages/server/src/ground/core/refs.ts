/** What names a session, and a thread of it, within the service. */
export type SessionRef = { tenant: string; session: string }

/** `thread`: id of a child thread; undefined: the primary thread. */
export type ThreadOption = { thread?: string | undefined }
export type ThreadRef = SessionRef & ThreadOption
