/** What the address of a session's page holds. */
import { keysOf } from '../../lib/keys-of.ts'
import { words } from '../../lib/words.ts'

export const sessionViews = ['talk', 'timeline', 'events', 'find'] as const
export type SessionTab = (typeof sessionViews)[number]

export const sessionPanes = keysOf(words.session.paneNames)
export type SessionPane = (typeof sessionPanes)[number]

export type SessionPageView = {
  view: SessionTab
  /** The chosen event. */
  event: string | undefined
  /** A child thread whose conversation is shown. */
  thread: string | undefined
  /** What stands beside the conversation. */
  pane: SessionPane | undefined
}
