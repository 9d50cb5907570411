/**
 * Resolves imports of our own files by their names alone. Node looks each of thousands of imports up on disk, which
 * takes a quarter of a server's start. A file that is missing fails when it is loaded.
 */
import { registerHooks } from 'node:module'

const packages = new URL('../../', import.meta.url).href
const ours = '@steward/'

function urlOf(specifier: string, parent: string | undefined): string | undefined {
  if (!specifier.endsWith('.ts')) return undefined
  if (specifier.startsWith(ours))
    return packages + specifier.slice(ours.length).replace('/', '/src/')
  return specifier.startsWith('.') ? new URL(specifier, parent).href : undefined
}

/** Applies to all files that this process loads from now on. */
export function resolveOwnFilesByName(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const url = urlOf(specifier, context.parentURL)
      if (url === undefined) return next(specifier, context)
      return { url, format: 'module-typescript', shortCircuit: true }
    },
  })
}
