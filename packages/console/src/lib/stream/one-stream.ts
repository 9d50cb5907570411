/**
 * The one connection of a browser to a workspace: every tab joins it with its wishes. It begins with the first wish,
 * goes on behind what each tab has seen after a loss, and ends with the last tab.
 */
import type { EventStream } from './server-events.ts'
import type { News, StreamData, Wish } from './messages.ts'

type Service = {
  /** Reads the stream until the signal aborts, and again after each loss. */
  follow: (stream: Omit<EventStream, 'url' | 'headers'>) => Promise<void>
  /** Changes what the stream follows. Resolves with why the service refuses, if it does. */
  change: (stream: string, body: object) => Promise<string | undefined>
}

export type StreamPort = { ask: (wish: Wish) => void; leave: () => void }

type Tab = {
  tell: (news: News) => void
  wantsWorkspace: boolean
  /** The newest event of each session that the tab has. */
  sessions: Map<string, number>
}

const followersIn = (tabs: ReadonlySet<Tab>, session: string): Tab[] =>
  [...tabs].filter(({ sessions }) => sessions.has(session))

const wantedIn = (tabs: ReadonlySet<Tab>): Set<string> =>
  new Set([...tabs].flatMap(({ sessions }) => [...sessions.keys()]))

/** Tells an event to each tab that does not have it: a tab that came later makes it come again. */
function tellEvent(followers: readonly Tab[], session: string, data: StreamData): void {
  const { seq } = data
  for (const tab of followers) {
    if (typeof seq === 'number') {
      if (seq <= (tab.sessions.get(session) ?? 0)) continue
      tab.sessions.set(session, seq)
    }
    tab.tell({ kind: 'data', data })
  }
}

export function oneStream(service: Service) {
  const tabs = new Set<Tab>()
  /** Sessions whose following begins with the next change. */
  const stale = new Set<string>()
  let followed = new Set<string>()
  let stream: string | undefined
  let running: AbortController | undefined
  let changing = Promise.resolve()

  const followers = (session: string) => followersIn(tabs, session)
  const tellAll = (news: News): void => {
    for (const { tell } of tabs) tell(news)
  }

  function begin(): void {
    if (running) return
    const ends = new AbortController()
    running = ends
    void service.follow({
      onData: (data) => hear(data as StreamData),
      onHeard: () => tellAll({ kind: 'heard' }),
      onLost() {
        stream = undefined
        tellAll({ kind: 'lost' })
      },
      onRefused(error) {
        running = undefined
        stream = undefined
        const isSignedOut = 'status' in error && error.status === 401
        tellAll({ kind: 'refused', message: error.message, isSignedOut })
      },
      signal: ends.signal,
    })
  }

  function end(): void {
    running?.abort()
    running = undefined
    stream = undefined
    followed = new Set()
  }

  function hear(data: StreamData): void {
    if (data.type === 'stream.opened') {
      stream = data.id
      followed = new Set()
      changeSoon()
    } else if (data.session_id !== undefined)
      tellEvent(followers(data.session_id), data.session_id, data)
    else
      for (const { wantsWorkspace, tell } of tabs) if (wantsWorkspace) tell({ kind: 'data', data })
  }

  /** Brings what the stream follows to what the tabs want. One change at a time. */
  function changeSoon(): void {
    changing = changing.then(change)
  }

  async function change(): Promise<void> {
    const open = stream
    if (open === undefined) return
    const now = wantedIn(tabs)
    const gone = [...followed].filter((session) => !now.has(session))
    const fresh = [...now].filter((session) => !followed.has(session) || stale.has(session))
    stale.clear()
    followed = now
    if (gone.length > 0) await service.change(open, { unfollow: gone })
    for (const session of fresh) {
      const after = Math.min(
        ...followers(session).map(({ sessions }) => sessions.get(session) ?? 0),
      )
      if (!Number.isFinite(after)) continue
      const follow = [{ session_id: session, after_seq: after, chunks: true }]
      const message = await service.change(open, { follow })
      if (message !== undefined)
        for (const { tell } of followers(session)) tell({ kind: 'refused', session, message })
    }
  }

  return {
    join(tell: (news: News) => void): StreamPort {
      const tab: Tab = { tell, wantsWorkspace: false, sessions: new Map() }
      tabs.add(tab)
      return {
        ask(wish) {
          if (wish.kind === 'workspace') tab.wantsWorkspace = wish.isWanted
          else if (wish.kind === 'unfollow') tab.sessions.delete(wish.session)
          else {
            tab.sessions.set(wish.session, wish.after)
            stale.add(wish.session)
          }
          begin()
          changeSoon()
        },
        leave() {
          tabs.delete(tab)
          if (tabs.size === 0) end()
          else changeSoon()
        },
      }
    },
  }
}

export type OneStream = ReturnType<typeof oneStream>
