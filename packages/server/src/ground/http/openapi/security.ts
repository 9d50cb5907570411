/** The security schemes of the published description, and the schemes of each operation. */
import type { SchemaNode } from './schemas.ts'
import type { CallerKind } from '../permissions.ts'

/** Every kind of key is a bearer token; the keys of a workspace are accepted as `x-api-key` as well. */
export const securitySchemes: Record<string, SchemaNode> = {
  WorkspaceKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A workspace key (`stw_key_…`): servers, command lines and the official client.',
  },
  WorkspaceKeyAsBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same workspace key, as `Authorization: Bearer`; it wins over `x-api-key`.',
  },
  WorkspaceAdminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description:
      'A workspace key with `admin`: it also makes environment keys and admin keys. Bearer works too.',
  },
  SessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'steward_session',
    description:
      'What sign-in sets for a person (`__Host-steward_session` behind TLS). A request that changes something also needs an `Origin` of this service. A viewer reads; a reviewer also starts and answers sessions; a member does what a workspace key does; an admin what a workspace-admin key does; an owner archives the workspace and names owners too.',
  },
  IdentityToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      "A token of the company's identity provider, of a person or a service. The rules of the server give it a role, as a person has one.",
  },
  AccessToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The access token of a login (`stw_at_…`): a client that acts for a person, with the role of the person.',
  },
  EnvironmentKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      "An environment key (`stw_env_…`): the workers that poll for one environment's work.",
  },
  ClaimToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      "The `sessions_token` in a work item's secret (`stw_claim_…`): the worker that has claimed the item.",
  },
  McpToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A short-lived token for one MCP server of one session.',
  },
}

/** The schemes of each kind of caller. */
const schemesOf: Record<CallerKind, readonly string[]> = {
  anyone: [],
  workspace: [
    'WorkspaceKey',
    'WorkspaceKeyAsBearer',
    'AccessToken',
    'SessionCookie',
    'IdentityToken',
  ],
  admin: ['WorkspaceAdminKey', 'AccessToken', 'SessionCookie', 'IdentityToken'],
  owner: ['AccessToken', 'SessionCookie', 'IdentityToken'],
  user: ['SessionCookie'],
  environment: ['EnvironmentKey'],
  claim: ['ClaimToken'],
  mcp: ['McpToken'],
}

/** The security requirement of an operation: any one of the schemes suffices. */
export const securityRequirements = (callers: readonly CallerKind[]): Record<string, string[]>[] =>
  [...new Set(callers.flatMap((caller) => schemesOf[caller]))].map((scheme) => ({ [scheme]: [] }))
