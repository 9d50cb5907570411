/**
 * Runs of a function that its callers share. A run that fails is never kept: what failed may work at the next call,
 * such as a read while the process was out of files.
 */
type Runs<Result> = {
  (): Promise<Result>
  /** The run that the next call would share. */
  current: () => Promise<Result> | undefined
}

export type SharedRun<Result> = Runs<Result> & {
  /** Makes the next call run the function again. */
  forget: () => void
}

/** The first call runs the function, and all calls share its result. After a failure the next call runs it again. */
export const runOnce = <Result>(run: () => Promise<Result>): SharedRun<Result> =>
  shareRun(run, { keepsResult: true })

/** Calls during a run share it. A call after its end runs the function again. */
export const runTogether = <Result>(run: () => Promise<Result>): SharedRun<Result> =>
  shareRun(run, { keepsResult: false })

/** `runOnce` for each key. The keys must be few: their results are kept for good. */
export function runOnceEach<Key, Result>(
  run: (key: Key) => Promise<Result>,
): (key: Key) => Promise<Result> {
  const runs = new Map<Key, SharedRun<Result>>()
  return (key) => {
    const known = runs.get(key) ?? runOnce(() => run(key))
    runs.set(key, known)
    return known()
  }
}

/** Runs the function, never beside itself. Calls during a run cause one more run after it, which ends their promise. */
export function runAgain(run: () => Promise<void>): Runs<void> {
  let isDue = false
  let running: Promise<void> | undefined

  async function runWhileDue(): Promise<void> {
    try {
      while (isDue) {
        isDue = false
        await run()
      }
    } finally {
      // At once, so that no call falls between the last run and this.
      running = undefined
    }
  }

  function call(): Promise<void> {
    isDue = true
    if (!running) running = Promise.resolve().then(runWhileDue)
    return running
  }
  return Object.assign(call, { current: () => running })
}

function shareRun<Result>(
  run: () => Promise<Result>,
  { keepsResult }: { keepsResult: boolean },
): SharedRun<Result> {
  let current: Promise<Result> | undefined

  function call(): Promise<Result> {
    if (current) return current
    // After `forget`, another run may have begun.
    const end = () => {
      if (current === begun) current = undefined
    }
    const begun: Promise<Result> = begin().then(
      (result) => {
        if (!keepsResult) end()
        return result
      },
      (error: unknown) => {
        end()
        throw error
      },
    )
    current = begun
    return begun
  }

  const begin = async (): Promise<Result> => run()
  return Object.assign(call, { current: () => current, forget: () => void (current = undefined) })
}
