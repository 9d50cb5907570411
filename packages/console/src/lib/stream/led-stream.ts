/**
 * The one connection of a browser without shared workers: the tab that holds a lock has it, and speaks with the others
 * over a channel. When it is closed, another tab takes the lock, and all tell it their wishes.
 */
import type { News, Wish } from './messages.ts'
import type { OneStream, StreamPort } from './one-stream.ts'

type ChannelMessage =
  | { from: string; wish: Wish }
  | { from: string; bye: true }
  | { to: string; news: News }
  /** The tab that leads now asks for all wishes. */
  | { leads: true }

/** `name`: that of the caller, the same in all of its tabs. `wishes`: everything that this tab wants now. */
export function ledStream(
  name: string,
  {
    open,
    tell,
    wishes,
  }: { open: () => OneStream; tell: (news: News) => void; wishes: () => Wish[] },
): StreamPort {
  const channel = new BroadcastChannel(name)
  const self = Math.random().toString(36).slice(2)
  const say = (said: ChannelMessage) => channel.postMessage(said)
  let leading: { own: StreamPort; hear: (said: ChannelMessage) => void } | undefined

  channel.onmessage = ({ data }: MessageEvent<ChannelMessage>) => {
    if ('to' in data) {
      if (data.to === self) tell(data.news)
    } else if ('leads' in data) for (const wish of wishes()) say({ from: self, wish })
    else leading?.hear(data)
  }

  const ended = new AbortController()
  void navigator.locks
    .request(name, { signal: ended.signal }, async () => {
      const stream = open()
      const others = new Map<string, StreamPort>()
      const portOf = (tab: string): StreamPort => {
        const port = others.get(tab) ?? stream.join((news) => say({ to: tab, news }))
        others.set(tab, port)
        return port
      }
      leading = {
        own: stream.join(tell),
        hear(said) {
          if (!('from' in said)) return
          if ('wish' in said) return portOf(said.from).ask(said.wish)
          others.get(said.from)?.leave()
          others.delete(said.from)
        },
      }
      for (const wish of wishes()) leading.own.ask(wish)
      say({ leads: true })
      // Held until the tab is closed.
      await new Promise(() => {})
    })
    .catch(() => {})

  return {
    ask: (wish) => (leading ? leading.own.ask(wish) : say({ from: self, wish })),
    leave() {
      if (leading) leading.own.leave()
      else say({ from: self, bye: true })
      ended.abort()
      channel.close()
    },
  }
}
