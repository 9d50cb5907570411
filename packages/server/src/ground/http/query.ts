/**
 * Parses a query string. Arrays are `name[]` or repeated names. Range filters keep their brackets (`created_at[gte]`).
 * An empty value, the official client's null, counts as absent. [http/query/lists]
 */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>()
  for (const [key, value] of search) {
    if (value === '') continue
    const name = key.endsWith('[]') ? key.slice(0, -2) : key
    const before = values.get(name)
    if (before === undefined) values.set(name, key.endsWith('[]') ? [value] : value)
    else values.set(name, [before, value].flat())
  }
  return Object.fromEntries(values)
}
