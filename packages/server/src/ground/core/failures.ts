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
