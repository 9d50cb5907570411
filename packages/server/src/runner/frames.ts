import type { Frame } from '@steward/harness/turn.ts'

const windowMs = 5

/** Sends the first piece of a block at once and joins later ones for at most 5 ms, so that fan-out stays cheap. */
export function frameSender(send: (frames: Frame[]) => void) {
  let waiting: Frame[] = []
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const frames = waiting
    waiting = []
    send(frames)
  }

  return {
    flush,
    push(frame: Frame): void {
      const before = waiting.at(-1)
      if (frame.kind === 'chunk' && before?.kind === 'chunk' && before.id === frame.id) {
        waiting[waiting.length - 1] = { ...before, delta: before.delta + frame.delta }
        return
      }
      waiting.push(frame)
      if (timer === undefined) {
        const first = waiting
        waiting = []
        send(first)
        timer = setTimeout(() => {
          timer = undefined
          flush()
        }, windowMs)
      }
    },
  }
}
