/** What differs between the wires of one service: how an answer names its request, and how a refusal is told. */
import { errorAnswer } from './errors.ts'
import type { Route } from './route.ts'

export type SurfaceWire = {
  errorAnswer: typeof errorAnswer
  /** A header that names the request beside `request-id`. */
  requestIdHeader?: string
}

export const ownWire: SurfaceWire = { errorAnswer }

/** Routes of another wire below one path, loaded by the first request there. */
export type LaterRoutes = {
  prefix: string
  wire: SurfaceWire
  load: () => Promise<readonly Route[]>
}
