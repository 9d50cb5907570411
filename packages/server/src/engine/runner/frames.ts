import type { LiveFrame } from '@steward/harness/turn.ts'

const shortestMs = 5
const longestMs = 50

/**
 * How long pieces are joined, for this number of streaming turns: 5 ms, and up to 50 ms when hundreds of turns stream.
 */
const windowMs = (turns: number): number => Math.min(Math.max(turns / 4, shortestMs), longestMs)

/**
 * Sends the first piece at once and joins the following pieces for some milliseconds, which keeps the fan-out cheap.
 */
export function frameSender(send: (frames: LiveFrame[]) => void, turns: () => number) {
  let waiting: LiveFrame[] = []
  let timer: NodeJS.Timeout | undefined

  function sendWaiting(): void {
    const frames = waiting
    waiting = []
    send(frames)
  }

  function pause(): void {
    timer = setTimeout(() => {
      timer = undefined
      if (waiting.length === 0) return
      sendWaiting()
      pause()
    }, windowMs(turns()))
  }

  return {
    flush(): void {
      clearTimeout(timer)
      timer = undefined
      if (waiting.length > 0) sendWaiting()
    },
    push(frame: LiveFrame): void {
      const before = waiting.at(-1)
      if (frame.kind === 'chunk' && before?.kind === 'chunk' && before.id === frame.id) {
        waiting[waiting.length - 1] = { ...before, delta: before.delta + frame.delta }
        return
      }
      waiting.push(frame)
      if (timer !== undefined) return
      sendWaiting()
      pause()
    },
  }
}
