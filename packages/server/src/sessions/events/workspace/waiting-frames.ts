/** What waits for the reader of one stream: frames in their order, and of each changed session the newest state. */
import type { Change } from './changes.ts'

/** Frames that wait for a slow reader. Whoever brings more waits. */
const mostFrames = 16
/** Changes that wait for a slow reader. Above them they are left out, and `lose` gives the frame that says so. */
const mostChanges = 5_000

export type WaitingFrames = ReturnType<typeof waitingFrames>

export function waitingFrames(lose: () => string) {
  const frames: string[] = []
  const changes = new Map<string, string>()
  const writers: (() => void)[] = []
  let isOver = false
  let wakeReader = () => {}

  function release(): void {
    for (const writer of writers.splice(0)) writer()
  }

  return {
    /** Adds a frame, however many wait. */
    add(frame: string): void {
      frames.push(frame)
      wakeReader()
    },

    /** Adds a frame, and resolves when there is room for another. */
    async push(frame: string): Promise<void> {
      frames.push(frame)
      wakeReader()
      while (frames.length >= mostFrames && !isOver)
        await new Promise<void>((resolve) => writers.push(resolve))
    },

    change(list: readonly Change[]): void {
      for (const { id, text } of list) {
        // Behind those that wait already, so that the newest is sent last.
        changes.delete(id)
        changes.set(id, text)
      }
      if (changes.size > mostChanges) {
        changes.clear()
        frames.push(lose())
      }
      wakeReader()
    },
    forgetChanges: () => changes.clear(),

    /** The frames that wait, or one change when none does. Undefined at the end. */
    async next(gone: AbortSignal): Promise<{ text: string } | { change: string } | undefined> {
      for (;;) {
        if (isOver || gone.aborted) return undefined
        if (frames.length > 0) {
          const text = frames.splice(0).join('')
          release()
          return { text }
        }
        const [oldest] = changes
        if (oldest) {
          changes.delete(oldest[0])
          return { change: oldest[1] }
        }
        await new Promise<void>((resolve) => (wakeReader = resolve))
      }
    },
    wake: () => wakeReader(),

    end(): void {
      isOver = true
      release()
      wakeReader()
    },
  }
}
