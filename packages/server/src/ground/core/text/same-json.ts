import { isDeepStrictEqual } from 'node:util'

/** The value after a round trip through JSON: without keys that are undefined. */
const readBack = (value: object): unknown => JSON.parse(JSON.stringify(value))

/** True when two values are the same JSON, in any order of keys. */
export const isSameJson = (one: object, other: object): boolean =>
  isDeepStrictEqual(readBack(one), readBack(other))
