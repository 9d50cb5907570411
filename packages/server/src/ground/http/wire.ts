/** The differences between the wires of the service: the header of the request id, and the form of errors. */
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
