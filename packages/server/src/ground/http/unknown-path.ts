/** Explains an unknown path: a typing error, a path that exists elsewhere, or a part of the official interface. */
import { PlatformError } from '../core/errors.ts'
import type { Route } from './route.ts'

/** Areas of the administration of organizations, by the beginnings of their paths. */
const unofferedAreas = [
  ['analytics', 'this report'],
  ['claude_code', 'the administration of a coding program'],
  ['claude_tag', 'the administration of a chat program'],
  ['compliance_settings', 'the administration of compliance'],
  ['external_keys', 'encryption by keys elsewhere'],
  ['external_storage', 'storage elsewhere'],
  ['federation', 'the federation of identities'],
  ['plugin_marketplaces', 'the administration of plugins'],
  ['plugins', 'the administration of plugins'],
  ['rbac_groups', 'the administration of groups'],
  ['rbac_roles', 'the administration of roles of your own'],
  ['service_accounts', 'the administration of service accounts'],
  ['spend_limit_increase_requests', 'the request of a higher spend limit'],
  ['telemetry_destinations', 'the administration of telemetry'],
] as const

/** Parts of the official interface that this service does not offer, by the prefix of their paths. */
export const unofferedPaths: readonly { path: string; name: string; areMany?: true }[] = [
  { path: '/v1/messages/batches', name: 'message batches', areMany: true },
  { path: '/v1/messages', name: 'the Messages API' },
  { path: '/v1/complete', name: 'the Text Completions API' },
  { path: '/v1/user_profiles', name: 'user profiles', areMany: true },
  { path: '/v1/tunnels', name: 'MCP tunnels', areMany: true },
  { path: '/v1/compliance', name: 'the review of compliance' },
  ...unofferedAreas.map(([path, name]) => ({ path: `/v1/organizations/${path}`, name })),
  { path: '/v1/organizations', name: 'this part of the administration of organizations' },
]

const patternOf = (path: string, end: '$' | '(?:/|$)'): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+(\{[^}]*\})?/g, '[^/]+').replaceAll('*', '.*')}${end}`)

/** The same path as an extension (below `/v1/ext`) or, for an extension, below `/v1`. */
const elsewhere = (path: string): string =>
  path.startsWith('/v1/ext/') ? `/v1/${path.slice(8)}` : path.replace(/^\/v1\//, '/v1/ext/')

/** Creates the function that makes the error of a request without a route. */
export function unknownPathErrors(routes: readonly Route[]) {
  const known = [...new Set(routes.map(({ path }) => path))].map((path) => patternOf(path, '$'))
  const closed = unofferedPaths.map(({ path, name, areMany }) => ({
    pattern: patternOf(path, '(?:/|$)'),
    refusal: `${name} ${areMany ? 'are' : 'is'} not offered by this service`,
  }))
  const isRoute = (path: string) => known.some((pattern) => pattern.test(path))

  return (method: string, path: string): PlatformError => {
    const found = closed.find(({ pattern }) => pattern.test(path))
    if (found && !isRoute(path))
      return new PlatformError('not_found', `${method} ${path}: ${found.refusal}`)
    const other = elsewhere(path)
    const hint = !isRoute(path) && isRoute(other) ? `; there is ${other}` : ''
    return new PlatformError('not_found', `there is no ${method} ${path}${hint}`)
  }
}
