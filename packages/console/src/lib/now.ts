/** The time as pages show it: ages grow while nothing else happens. */
import { createStore } from './store.ts'

const stepMs = 5_000

/** Milliseconds since 1970, a few seconds old at most. */
export const minuteHand = createStore(Date.now())

setInterval(() => {
  if (document.visibilityState === 'visible') minuteHand.set(Date.now())
}, stepMs)
