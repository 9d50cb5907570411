/**
 * A query string as an object. Arrays come as `name[]`, or by repetition; range filters keep their brackets
 * (`created_at[gte]`); an empty value is the official client's null and counts as absent. contract.md 0.1
 */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = {}
  for (const [key, value] of search) {
    if (value === '') continue
    const name = key.endsWith('[]') ? key.slice(0, -2) : key
    const before = object[name]
    if (before === undefined) object[name] = key.endsWith('[]') ? [value] : value
    else object[name] = [before, value].flat()
  }
  return object
}
