/** Caches results of a function that depends only on its argument, for a limited time and up to a limited size. */
import type { Clock } from './time.ts'

export type MemoLimits = {
  /** Milliseconds for which a result is used. It is dropped within twice the time. */
  keepMs: number
  /** Most characters of all arguments together. */
  mostCharacters: number
}

export type Memo<Result> = {
  /** The result for the argument, computed when it is not cached. Errors are not cached. */
  of: (argument: string, compute: () => Result) => Result
  /** Drops all results, and caches none from then on. */
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
