/**
 * A query string as an object. Arrays come as `name[]`, or by repetition; range filters keep their brackets
 * (`created_at[gte]`); an empty value is the official client's null and counts as absent. [http/query/lists]
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
