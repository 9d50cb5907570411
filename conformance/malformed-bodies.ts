/** Request bodies with invalid parts. */

/** Characters with a meaning in SQL, paths or JSON. */
export const oddText = `"'%_\\\u00e9\u{1f600}`

const wrong: readonly unknown[] = [
  ...[null, -1, 1e308, '', `\0\ud800${oddText}`, 'x'.repeat(5_000), [null], {}],
  JSON.parse('['.repeat(200) + ']'.repeat(200)),
  JSON.parse('{"__proto__": {"type": "none"}, "constructor": 1, "toString": "x"}'),
]

/** Yields the value with each of its parts replaced by invalid values. */
export function* malformedBodies(value: unknown): Generator {
  yield* wrong
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value))
    for (const other of malformedBodies(part))
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
}
