/** Results of a function that depends on its argument alone, kept for a bounded time and up to a bounded size. */
import type { Clock } from './time.ts'

export type MemoLimits = {
  /** A result is used for so long at most, however often. It is let go within twice the time. */
  keepMs: number
  /** Of all arguments together. */
  mostCharacters: number
}

export type Memo<Result> = {
  /** The result for the argument; computed where it is not kept. An error is not kept. */
  of: (argument: string, compute: () => Result) => Result
  /** Lets go of all results, and keeps none from then on. */
  close: () => void
}

export function createMemo<Result>({
  clock,
  keepMs,
  mostCharacters,
}: MemoLimits & { clock: Clock }): Memo<Result> {
  /** The oldest first. */
  const kept = new Map<string, { result: Result; untilMs: number }>()
  const closed = new AbortController()
  let characters = 0
  let isWaiting = false

  function letGo(argument: string): void {
    if (kept.delete(argument)) characters -= argument.length
  }

  async function letGoInTime(): Promise<void> {
    if (isWaiting) return
    isWaiting = true
    while (kept.size > 0) {
      await clock.sleep(keepMs, closed.signal)
      for (const [argument, { untilMs }] of kept) if (untilMs <= clock.now()) letGo(argument)
    }
    isWaiting = false
  }

  function keep(argument: string, result: Result): void {
    letGo(argument)
    if (closed.signal.aborted || argument.length > mostCharacters) return
    kept.set(argument, { result, untilMs: clock.now() + keepMs })
    characters += argument.length
    for (const oldest of kept.keys()) {
      if (characters <= mostCharacters) break
      letGo(oldest)
    }
    void letGoInTime()
  }

  return {
    of(argument, compute) {
      const known = kept.get(argument)
      if (known && known.untilMs > clock.now()) return known.result
      const result = compute()
      keep(argument, result)
      return result
    },
    close() {
      kept.clear()
      characters = 0
      closed.abort()
    },
  }
}
