/** Every column that holds sealed values, for a change of the root secret. */
import { deploymentTokenPlace, triggerSecretPlace } from '../../capabilities/deployments/store.ts'
import {
  installationTokenPlace,
  publicationSecretPlace,
} from '../../capabilities/integrations/store.ts'
import { agentTokenPlace } from '../../resources/agents/store.ts'
import type { Sealed } from '../../ground/core/seal.ts'
import { headersPlace, keyPlace } from '../../resources/model-cards/store.ts'
import { repositoryTokenPlace } from '../../sessions/rows/resources.ts'
import { tokenPlace } from '../../sessions/rows/sessions.ts'
import { sealedPlace } from '../../resources/vaults/credentials.ts'
import { secretPlace } from '../../tenants/webhooks/store.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'
import { workspaceKeyPlace } from '../../ground/database/workspace-keys.ts'
import { parseObject } from '@steward/base/json-object.ts'

type SealedTable =
  | 'model_cards'
  | 'agent_versions'
  | 'sessions'
  | 'vault_credentials'
  | 'session_resources'
  | 'webhook_endpoints'
  | 'workspace_keys'
  | 'deployments'
  | 'publications'
  | 'installations'

export type SealedColumnPlace = {
  table: SealedTable
  /** The columns of the primary key after the tenant. */
  keys: readonly string[]
  column: string
  /** `value`: one sealed value. `values`: JSON of sealed values by name. */
  holds: 'value' | 'values'
  /**
   * The place that a value is sealed for. `id`: the first of `keys`. `name`: the name of the value, where the column
   * holds several.
   */
  place: (tenant: string, id: string, name: string) => string
}

/**
 * The keys of workspaces, in the control database, are sealed under the root secret. All values in `sealedColumns` are
 * sealed under the keys of workspaces.
 */
export const keyColumn: SealedColumnPlace = {
  table: 'workspace_keys',
  keys: [],
  column: 'sealed',
  holds: 'value',
  place: workspaceKeyPlace,
}

export const sealedColumns: readonly SealedColumnPlace[] = [
  {
    table: 'model_cards',
    keys: ['id'],
    column: 'sealed_key',
    holds: 'value',
    place: keyPlace,
  },
  {
    table: 'model_cards',
    keys: ['id'],
    column: 'sealed_headers',
    holds: 'value',
    place: headersPlace,
  },
  {
    table: 'agent_versions',
    keys: ['agent_id', 'version'],
    column: 'sealed_tokens',
    holds: 'values',
    place: agentTokenPlace,
  },
  {
    table: 'sessions',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    place: tokenPlace,
  },
  {
    table: 'session_resources',
    keys: ['id', 'session_id'],
    column: 'sealed_token',
    holds: 'value',
    place: repositoryTokenPlace,
  },
  {
    table: 'vault_credentials',
    keys: ['id'],
    column: 'sealed',
    holds: 'values',
    place: (tenant, id, part) => sealedPlace(tenant, id, part as SecretPart),
  },
  {
    table: 'webhook_endpoints',
    keys: ['id'],
    column: 'sealed_secrets',
    holds: 'values',
    place: secretPlace,
  },
  {
    table: 'deployments',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    place: deploymentTokenPlace,
  },
  {
    table: 'deployments',
    keys: ['id'],
    column: 'sealed_trigger_secrets',
    holds: 'values',
    place: triggerSecretPlace,
  },
  {
    table: 'publications',
    keys: ['id'],
    column: 'sealed_secrets',
    holds: 'values',
    place: publicationSecretPlace,
  },
  {
    table: 'installations',
    keys: ['id'],
    column: 'sealed_tokens',
    holds: 'values',
    place: installationTokenPlace,
  },
]

/** The content of the column, with each sealed value replaced by the result of `make`. */
export function eachSealed(
  { holds }: SealedColumnPlace,
  text: string,
  make: (sealed: Sealed, name: string) => Sealed,
): string {
  if (holds === 'value') return make(text as Sealed, '')
  const values = Object.entries(parseObject(text))
  return JSON.stringify(
    Object.fromEntries(values.map(([name, value]) => [name, make(value as Sealed, name)])),
  )
}
