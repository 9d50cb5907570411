/** Why a path is not there: a typing error, a place elsewhere, or a part of the official interface that is not offered. */
import { PlatformError } from '../core/errors.ts'
import type { Route } from './route.ts'

/** Parts of the official interface that this service does not offer, by the beginnings of their paths. */
export const unofferedPaths: readonly { path: string; name: string }[] = [
  { path: '/v1/messages', name: 'the Messages API' },
  { path: '/v1/complete', name: 'the Text Completions API' },
  { path: '/v1/user_profiles', name: 'user profiles' },
  { path: '/v1/tunnels', name: 'MCP tunnels' },
  { path: '/v1/organizations', name: 'the administration of organizations' },
]

const patternOf = (path: string, end: '$' | '(?:/|$)'): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+(\{[^}]*\})?/g, '[^/]+').replaceAll('*', '.*')}${end}`)

/** Extensions lie below `/v1/ext`, all else below `/v1`. */
const elsewhere = (path: string): string =>
  path.startsWith('/v1/ext/') ? `/v1/${path.slice(8)}` : path.replace(/^\/v1\//, '/v1/ext/')

/** The refusal of a request that no route takes. */
export function unknownPathErrors(routes: readonly Route[]) {
  const known = [...new Set(routes.map(({ path }) => path))].map((path) => patternOf(path, '$'))
  const closed = unofferedPaths.map(({ path, name }) => ({
    pattern: patternOf(path, '(?:/|$)'),
    name,
  }))
  const isRoute = (path: string) => known.some((pattern) => pattern.test(path))

  return (method: string, path: string): PlatformError => {
    const found = closed.find(({ pattern }) => pattern.test(path))
    if (found && !isRoute(path))
      return new PlatformError(
        'not_found',
        `${method} ${path}: ${found.name} is not offered by this service`,
      )
    const other = elsewhere(path)
    const hint = !isRoute(path) && isRoute(other) ? `; there is ${other}` : ''
    return new PlatformError('not_found', `there is no ${method} ${path}${hint}`)
  }
}
