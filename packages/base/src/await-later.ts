/**
 * For a promise that is begun now and awaited after other work. When it fails before that, its failure waits for the
 * `await`; without this it would end the process, as a failure that nobody handles. Also when the other work throws.
 */
export function awaitLater<Awaited extends Promise<unknown>>(begun: Awaited): Awaited {
  begun.catch(() => {})
  return begun
}
