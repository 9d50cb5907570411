/**
 * The request that may have caused the next turn of a session. Any process may run the turn, so the bus tells all
 * processes with traces about the request. A turn that another process takes over so stays in its trace.
 */
import type { SpanContext } from '@opentelemetry/api'
import type { Channel } from '../../ground/bus/bus.ts'
import { boundedMap } from './bounded-map.ts'
import { parseTraceparent, traceparentText } from './traceparent.ts'

const topic = 'causes-of-turns'

export type Causes = {
  get(session: string): SpanContext | undefined
  set(session: string, request: SpanContext): void
  /** Call `forget` when the turn that `request` caused has ended. A later request is not forgotten. */
  forget(session: string, request: SpanContext): void
  stop(): void
}

/** `most`: the most sessions that are remembered. The oldest are forgotten first. */
export function causesOver(bus: Channel, most: number): Causes {
  const known = boundedMap<SpanContext>(most)
  const stop = bus.subscribe(topic, ({ session, request, hasEnded }) => {
    const context = typeof request === 'string' ? parseTraceparent(request) : undefined
    if (typeof session !== 'string' || !context) return
    if (hasEnded !== true) known.set(session, context)
    else if (known.get(session)?.spanId === context.spanId) known.take(session)
  })
  const tell = (session: string, request: SpanContext, hasEnded: boolean) =>
    bus.publish(topic, { session, request: traceparentText(request), hasEnded })
  return {
    get: known.get,
    set: (session, request) => tell(session, request, false),
    forget: (session, request) => tell(session, request, true),
    stop,
  }
}
