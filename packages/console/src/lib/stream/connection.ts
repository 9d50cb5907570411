/** Whether what is shown is live. Everything that hears from the service tells it here. */
import { createStore } from '../store.ts'

export type ConnectionState = {
  state: 'live' | 'reconnecting' | 'offline'
  /** When the service was last heard, in milliseconds since 1970. */
  heardAt: number
}

/** A short gap is not worth a word. */
const quietMs = 3_000
const offlineMs = 30_000

export const connection = createStore<ConnectionState>({ state: 'live', heardAt: Date.now() })

let lostAt: number | undefined
let timer: ReturnType<typeof setTimeout> | undefined

function show(): void {
  if (lostAt === undefined) return
  const gone = Date.now() - lostAt
  const { heardAt } = connection.get()
  const isOffline = gone >= offlineMs || !navigator.onLine
  if (gone >= quietMs) connection.set({ state: isOffline ? 'offline' : 'reconnecting', heardAt })
  timer = setTimeout(show, gone < quietMs ? quietMs - gone : offlineMs - quietMs)
}

export function noteHeard(): void {
  lostAt = undefined
  clearTimeout(timer)
  const { state, heardAt } = connection.get()
  // The time alone is no news for what is on the screen.
  if (state !== 'live' || Date.now() - heardAt > 1_000)
    connection.set({ state: 'live', heardAt: Date.now() })
}

export function noteLost(): void {
  if (lostAt !== undefined) return
  lostAt = Date.now()
  clearTimeout(timer)
  show()
}
