/**
 * The events of an answer between their writer and their one reader. Deltas are joined while many wait. After `last` only
 * another `last` is accepted, which replaces all waiting events.
 */
import type { ModelEvent } from '../model.ts'

/** The writer should write no further while so much waits. */
const mostWaiting = { events: 1_000, characters: 1024 * 1024 }
/** Deltas are joined when more events than these wait, up to these characters. */
const fewEvents = 32
const mostJoined = 16 * 1024

export function createMailbox() {
  let items: ModelEvent[] = []
  let at = 0
  let characters = 0
  let wake: (() => void) | undefined
  let makeRoom: (() => void) | undefined
  let closed = false

  const hasRoom = (): boolean =>
    closed || (items.length - at < mostWaiting.events && characters < mostWaiting.characters)

  function close(): void {
    closed = true
    makeRoom?.()
  }

  return {
    put(event: ModelEvent): void {
      if (closed) return
      characters += lengthOf(event)
      const latest = items.length - at > fewEvents ? items.at(-1) : undefined
      if (event.type !== 'delta') items.push(event)
      else if (canJoin(latest, event)) latest.delta += event.delta
      else items.push({ ...event })
      wake?.()
    },
    last(event: ModelEvent, options: { instead?: boolean } = {}): void {
      if (options.instead === true) {
        if (closed && at === items.length) return
        items = [event]
        at = 0
      } else if (closed) return
      else items.push(event)
      close()
      wake?.()
    },
    /** Waits for the next event. Undefined after the last. */
    async take(): Promise<ModelEvent | undefined> {
      if (at === items.length) {
        if (closed) return undefined
        items = []
        at = 0
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
        wake = undefined
      }
      const event = items[at]
      at += 1
      if (event !== undefined) characters -= lengthOf(event)
      if (hasRoom()) makeRoom?.()
      return event
    },
    /** Resolves when the reader has taken so much that more can be written. */
    async room(): Promise<void> {
      while (!hasRoom()) {
        const { promise, resolve } = Promise.withResolvers<void>()
        makeRoom = resolve
        await promise
        makeRoom = undefined
      }
    },
    /** Nobody reads any more. */
    close,
  }
}

type Delta = Extract<ModelEvent, { type: 'delta' }>

const lengthOf = (event: ModelEvent): number => (event.type === 'delta' ? event.delta.length : 0)

function canJoin(latest: ModelEvent | undefined, event: Delta): latest is Delta {
  return (
    latest?.type === 'delta' &&
    latest.index === event.index &&
    latest.delta.length + event.delta.length <= mostJoined
  )
}
