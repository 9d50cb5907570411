/** The pause until a model is asked again, kept beside the error before it. */
import { parseObject } from '@steward/base/json-object.ts'

/** The `opaque` of an error with a pause behind it. Null without one. */
export const pauseText = (ms: number | undefined): string | null =>
  ms === undefined ? null : JSON.stringify({ retry_ms: ms })

/** Milliseconds. Undefined for an error of before this was kept. */
export function pauseIn(opaque: string | null): number | undefined {
  const ms = opaque === null ? undefined : parseObject(opaque)['retry_ms']
  return typeof ms === 'number' ? ms : undefined
}
