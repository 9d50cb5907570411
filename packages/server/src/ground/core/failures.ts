/** Failures of parts, so that the other parts of the work go on. */

export async function collectFailure(
  failures: unknown[],
  work: () => Promise<void>,
): Promise<void> {
  await work().catch((error: unknown) => void failures.push(error))
}

export function throwFailures(failures: readonly unknown[]): void {
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, 'several parts of the work failed')
}

/**
 * Does the work for each item. Returns true when it returned true for all. An item that fails does not stop the work for
 * the others: throws at the end.
 */
export async function completeEach<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<boolean>,
): Promise<boolean> {
  const failures: unknown[] = []
  let isComplete = true
  for await (const item of items)
    await collectFailure(failures, async () => {
      isComplete = (await work(item)) && isComplete
    })
  throwFailures(failures)
  return isComplete
}
