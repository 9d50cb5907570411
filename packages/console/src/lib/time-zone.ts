/** Whether times of day are those of UTC, in place of where the reader is: one switch for all of them. */
import { createStore } from './store.ts'

const name = 'steward.utc'

const read = (): boolean => {
  try {
    return localStorage.getItem(name) === '1'
  } catch {
    return false
  }
}

export const isUtc = createStore(read())

export function switchTimeZone(): void {
  const next = !isUtc.get()
  isUtc.set(next)
  try {
    localStorage.setItem(name, next ? '1' : '0')
  } catch {
    // It holds until the page is left.
  }
}
