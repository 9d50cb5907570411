/** Runs work of one key one after the other, also after a failure. Work of different keys runs at the same time. */
export function createKeyQueue(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, mine)
    return mine.finally(() => last.get(key) === mine && last.delete(key))
  }
}
