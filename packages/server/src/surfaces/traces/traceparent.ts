/** The header `traceparent` of W3C Trace Context. */
import type { SpanContext } from '@opentelemetry/api'

export const traceparentText = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const isZero = (id: string): boolean => /^0+$/.test(id)

/** The span context of the header; undefined for an invalid text, because a caller may send anything. */
export function parseTraceparent(traceparent: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    form.exec(traceparent ?? '') ?? []
  const isKnown = version === '00' ? more === undefined : version !== undefined && version !== 'ff'
  if (!isKnown || isZero(traceId) || isZero(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}
