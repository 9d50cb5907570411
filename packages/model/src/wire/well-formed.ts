/** Half of a surrogate pair is no UTF-8, and providers refuse a request with it. Returns the same value where none is. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) return changed(value, value.map(wellFormed))
  if (!isPlain(value)) return value
  const entries = Object.entries(value)
  const fitted = entries.map(([name, each]) => [name.toWellFormed(), wellFormed(each)] as const)
  const isSame = fitted.every(
    ([name, each], at) => name === entries[at]?.[0] && each === entries[at]?.[1],
  )
  return isSame ? value : Object.fromEntries(fitted)
}

function changed(list: unknown[], fitted: unknown[]): unknown[] {
  return fitted.every((each, at) => each === list[at]) ? list : fitted
}

/** Not an abort signal or another object of a class, which Google's body carries. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
