import { isDeepStrictEqual } from 'node:util'

/** As it would be read back: without keys that are undefined. */
const readBack = (value: object): unknown => JSON.parse(JSON.stringify(value))

/** Whether two values are the same JSON, whatever the order of their keys. */
export const isSameJson = (one: object, other: object): boolean =>
  isDeepStrictEqual(readBack(one), readBack(other))
