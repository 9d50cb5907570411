// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const vaults = {
  'vaults/field/id': { section: '14.1 The vault', says: '`id` – assigned' },
  'vaults/field/tenant-id': { section: '14.1 The vault', says: '`tenant_id` – the tenant it belongs to' },
  'vaults/field/name': { section: '14.1 The vault', says: '`name` – also shown as `display_name`, 1 to 255 characters' },
  'vaults/field/times': { section: '14.1 The vault', says: '`created_at`, `updated_at` – assigned' },
  'vaults/field/archived-at': { section: '14.1 The vault', says: '`archived_at` – null until it is archived' },
  'vaults/list': { section: '14.1 The vault', says: 'GET `/v1/vaults` – lists, without any secret' },
  'vaults/create': { section: '14.1 The vault', says: 'POST `/v1/vaults` – creates; `credentials`, `credential` or `auth` in the body become its credentials' },
  'vaults/get': { section: '14.1 The vault', says: 'GET `/v1/vaults/:id` – answers one' },
  'vaults/update': { section: '14.1 The vault', says: 'PATCH or POST `/v1/vaults/:id` – changes what is named; the same keys as at creation rotate secrets' },
  'vaults/delete': { section: '14.1 The vault', says: 'DELETE `/v1/vaults/:id` – deletes, and answers `{id, type: \'vault_deleted\'}`' },
  'vaults/archive': { section: '14.1 The vault', says: 'POST `/v1/vaults/:id/archive` – archives it with its credentials' },
  'vaults/credentials/validate': { section: '14.1 The vault', says: 'POST `…/credentials/:cid/mcp_oauth_validate` – tries an OAuth credential and tells what came of it', deferred: 'B' },
  'vaults/credentials': { section: '14.1 The vault', says: '`/v1/vaults/:id/credentials` and below – create, list, get, update, delete and archive single credentials' },
  'vaults/bundle': { section: '14.1 The vault', says: 'A vault belongs to one tenant and bundles credentials, which are rows of their own.' },
  'vaults/secrets-never-returned': { section: '14.1 The vault', says: 'What was written as a secret is in no answer, that to the write included.' },
  'vaults/secrets-sealed': { section: '14.1 The vault', says: 'Secrets are sealed at rest.' },
  'vaults/credential-limit': { section: '14.1 The vault', says: 'A vault holds at most 20 credentials.' },
  'credentials/type/static-bearer': { section: '14.2 Credentials', says: '`static_bearer` – `token`, `mcp_server_url`' },
  'credentials/type/mcp-oauth': { section: '14.2 Credentials', says: '`mcp_oauth` – `access_token`, `mcp_server_url`, and optionally `refresh_token`, `token_endpoint`, `expires_at`, or the same nested in `refresh`' },
  'credentials/type/cap-cli': { section: '14.2 Credentials', says: '`cap_cli` – `cli_id`, such as that of a code host\'s program, and `token`' },
  'credentials/type/command-secret': { section: '14.2 Credentials', says: '`command_secret` – `token`, `env_var`, `command_prefixes[]`' },
  'credentials/type/environment-variable': { section: '14.2 Credentials', says: '`environment_variable` – `secret_name`, `secret_value`, `networking`, `injection_location`' },
  'credentials/bound-not-vault': { section: '14.2 Credentials', says: 'A credential is bound to a host; its vault is not.', deferred: 'B' },
  'credentials/match/host': { section: '14.2 Credentials', says: '`static_bearer` and `mcp_oauth` apply where a request\'s host is that of their `mcp_server_url`; an equal URL comes before an equal host.' },
  'credentials/match/cli': { section: '14.2 Credentials', says: '`cap_cli` applies by looking its `cli_id` up in a list of known programs.', deferred: 'B' },
  'credentials/match/order': { section: '14.2 Credentials', says: 'Of several vaults the first of the session\'s order that matches counts.', deferred: 'B' },
} satisfies Record<string, Requirement>
