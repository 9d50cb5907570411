import type { Due } from './store.ts'

const together = 8

/** Works on the items in the order of the list, several at once. */
export async function forEachDue<Each extends Due>(
  due: readonly Each[],
  signal: AbortSignal,
  work: (each: Each) => Promise<unknown>,
): Promise<void> {
  const left = [...due]
  async function go(): Promise<void> {
    for (let next = left.shift(); next && !signal.aborted; next = left.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: together }, go))
}
