/** The differences between the wires of the service: headers of the request id and of limits, and the form of errors. */
import { errorAnswer } from './errors.ts'
import type { Verdict } from './rate-limits.ts'
import type { Route } from './route.ts'

export type SurfaceWire = {
  errorAnswer: typeof errorAnswer
  /** A header that names the request beside `request-id`. */
  requestIdHeader?: string
  rateLimitHeaders: (verdict: Verdict, now: number) => Readonly<Record<string, string>>
}

export const ownWire: SurfaceWire = {
  errorAnswer,
  rateLimitHeaders: ({ rate, remaining, fullAtMs }) => ({
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(fullAtMs / 1_000)),
  }),
}

/** Routes of another wire below one path, loaded by the first request there. */
export type LaterRoutes = {
  prefix: string
  wire: SurfaceWire
  load: () => Promise<readonly Route[]>
}
