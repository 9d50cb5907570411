/** Tells the operator of deprecated fields that callers still send: each once in the life of the process. */
import type { Log } from '@steward/base/log.ts'
import { z } from 'zod'
import type { Route } from './route.ts'

export type NoteDeprecated = (route: Route, body: unknown) => void

/** The names of a body's fields that its schema calls deprecated. */
function deprecatedIn(schema: z.ZodType): string[] {
  if (!(schema instanceof z.ZodObject)) return []
  const fields: Record<string, z.ZodType> = schema.shape
  return Object.keys(fields).filter((name) => fields[name]?.meta()?.deprecated === true)
}

export function deprecations(log: Log): NoteDeprecated {
  /** What is not told yet, by route. Most routes have an empty set. */
  const untold = new Map<Route, Set<string>>()
  return (route, body) => {
    if (!route.body || typeof body !== 'object' || body === null) return
    let names = untold.get(route)
    if (!names) untold.set(route, (names = new Set(deprecatedIn(route.body))))
    for (const field of names) {
      if (!(field in body)) continue
      names.delete(field)
      log.warn('a caller sends a deprecated field, which a later version refuses', {
        route: `${route.method.toUpperCase()} ${route.path}`,
        field,
      })
    }
  }
}
