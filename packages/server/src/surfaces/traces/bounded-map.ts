/** A map that forgets the oldest of its entries beyond `most`. */
export function boundedMap<Value>(most: number) {
  const known = new Map<string, Value>()
  return {
    get: (key: string) => known.get(key),
    set(key: string, value: Value): void {
      known.delete(key)
      known.set(key, value)
      const [oldest] = known.size > most ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
    },
    take(key: string): Value | undefined {
      const value = known.get(key)
      known.delete(key)
      return value
    },
  }
}
