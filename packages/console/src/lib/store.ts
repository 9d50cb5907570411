/** A value that parts of a page follow. */
import { useSyncExternalStore } from 'react'

export type FollowedValue<T> = {
  get: () => T
  set: (value: T) => void
  subscribe: (listener: () => void) => () => void
}

export function createStore<T>(first: T): FollowedValue<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return
      value = next
      for (const each of listeners) each()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStore = <T>({ subscribe, get }: FollowedValue<T>): T =>
  useSyncExternalStore(subscribe, get)
