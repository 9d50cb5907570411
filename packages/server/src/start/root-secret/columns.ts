/** Every column that holds sealed values, for a change of the root secret. */
import {
  deploymentTokenContext,
  triggerSecretContext,
} from '../../capabilities/deployments/store.ts'
import {
  installationTokenContext,
  publicationSecretContext,
} from '../../capabilities/integrations/store.ts'
import { agentTokenContext } from '../../resources/agents/store.ts'
import type { Sealed } from '../../ground/core/security/seal.ts'
import { headersContext, keyContext } from '../../resources/model-cards/store.ts'
import { repositoryTokenContext } from '../../sessions/rows/resources.ts'
import { tokenContext } from '../../sessions/rows/sessions.ts'
import { sealedContext } from '../../resources/vaults/credentials.ts'
import { secretContext } from '../../tenants/webhooks/store.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'
import { grantContext } from '../../tenants/members/by-groups/store.ts'
import { workspaceKeyContext } from '../../ground/database/workspace-keys.ts'
import { parseObject } from '@steward/base/json-object.ts'

type SealedTable =
  | 'model_cards'
  | 'agent_versions'
  | 'sessions'
  | 'vault_credentials'
  | 'session_resources'
  | 'webhook_endpoints'
  | 'workspace_keys'
  | 'provider_grants'
  | 'deployments'
  | 'publications'
  | 'installations'

export type SealedColumn = {
  table: SealedTable
  /** The columns of the primary key after the tenant. */
  keys: readonly string[]
  column: string
  /** `value`: one sealed value. `values`: JSON of sealed values by name. */
  holds: 'value' | 'values'
  /**
   * The context that a value is sealed for. `id`: the first of `keys`. `name`: the name of the value, where the column
   * holds several.
   */
  context: (tenant: string, id: string, name: string) => string
}

/**
 * The keys of workspaces, in the control database, are sealed under the root secret. All values in `sealedColumns` are
 * sealed under the keys of workspaces.
 */
const keyColumn: SealedColumn = {
  table: 'workspace_keys',
  keys: [],
  column: 'sealed',
  holds: 'value',
  context: workspaceKeyContext,
}

/** Columns of the control database that are sealed under the root secret itself. */
export const controlColumns: readonly SealedColumn[] = [
  keyColumn,
  {
    table: 'provider_grants',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    context: grantContext,
  },
]

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'model_cards',
    keys: ['id'],
    column: 'sealed_key',
    holds: 'value',
    context: keyContext,
  },
  {
    table: 'model_cards',
    keys: ['id'],
    column: 'sealed_headers',
    holds: 'value',
    context: headersContext,
  },
  {
    table: 'agent_versions',
    keys: ['agent_id', 'version'],
    column: 'sealed_tokens',
    holds: 'values',
    context: agentTokenContext,
  },
  {
    table: 'sessions',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    context: tokenContext,
  },
  {
    table: 'session_resources',
    keys: ['id', 'session_id'],
    column: 'sealed_token',
    holds: 'value',
    context: repositoryTokenContext,
  },
  {
    table: 'vault_credentials',
    keys: ['id'],
    column: 'sealed',
    holds: 'values',
    context: (tenant, id, part) => sealedContext(tenant, id, part as SecretPart),
  },
  {
    table: 'webhook_endpoints',
    keys: ['id'],
    column: 'sealed_secrets',
    holds: 'values',
    context: secretContext,
  },
  {
    table: 'deployments',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    context: deploymentTokenContext,
  },
  {
    table: 'deployments',
    keys: ['id'],
    column: 'sealed_trigger_secrets',
    holds: 'values',
    context: triggerSecretContext,
  },
  {
    table: 'publications',
    keys: ['id'],
    column: 'sealed_secrets',
    holds: 'values',
    context: publicationSecretContext,
  },
  {
    table: 'installations',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    context: installationTokenContext,
  },
]

/** The content of the column, with each sealed value replaced by the result of `make`. */
export function eachSealed(
  { holds }: SealedColumn,
  text: string,
  make: (sealed: Sealed, name: string) => Sealed,
): string {
  if (holds === 'value') return make(text as Sealed, '')
  const values = Object.entries(parseObject(text))
  return JSON.stringify(
    Object.fromEntries(values.map(([name, value]) => [name, make(value as Sealed, name)])),
  )
}
