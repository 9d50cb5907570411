/** The parts of this surface that the service needs before the first request: the prefix, and how to load the rest. */
import type { LaterRoutes } from '../../ground/http/wire.ts'
import type { OpenAIDeps } from './app.ts'
import { openaiWire } from './errors.ts'

export const openaiSurface = (deps: OpenAIDeps): LaterRoutes => ({
  prefix: '/openai/v1',
  wire: openaiWire,
  load: async () => (await import('./app.ts')).openaiRoutes(deps),
})
