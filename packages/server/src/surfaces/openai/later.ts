/** What the service knows of this surface before its first request: where it is, and how to load it. */
import type { LaterRoutes } from '../../ground/http/wire.ts'
import type { OpenAIDeps } from './app.ts'
import { openaiWire } from './errors.ts'

export const openaiSurface = (deps: OpenAIDeps): LaterRoutes => ({
  prefix: '/openai/v1',
  wire: openaiWire,
  load: async () => (await import('./app.ts')).openaiRoutes(deps),
})
