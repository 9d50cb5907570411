/** The place of each table's rows when each tenant has its own database. */
import type { Tables } from './tables.ts'

/**
 * `control`: rows that are read before the tenant is known, or that belong to none. `tenant`: rows of the tenant's own
 * database. `each`: every database has its own rows.
 */
export type TablePlace = 'control' | 'tenant' | 'each'

export const tablePlaces: Readonly<Record<keyof Tables, TablePlace>> = {
  settings: 'each',
  audit_lines: 'each',
  audit_heads: 'each',

  workspaces: 'control',
  workspace_keys: 'control',
  workspace_removals: 'control',
  rate_limits: 'control',
  workspace_limits: 'control',
  api_keys: 'control',
  people: 'control',
  sign_ins: 'control',
  sign_in_accounts: 'control',
  verifications: 'control',
  members: 'control',
  saved_views: 'control',
  invitations: 'control',
  spend_limits: 'control',
  installation_places: 'control',
  install_states: 'control',
  tenant_databases: 'control',

  agents: 'tenant',
  agent_versions: 'tenant',
  environments: 'tenant',
  model_cards: 'tenant',
  sessions: 'tenant',
  session_heads: 'tenant',
  session_resources: 'tenant',
  inbox: 'tenant',
  events: 'tenant',
  long_texts: 'tenant',
  long_text_pieces: 'tenant',
  calls: 'tenant',
  vaults: 'tenant',
  vault_credentials: 'tenant',
  credential_uses: 'tenant',
  credential_changes: 'tenant',
  files: 'tenant',
  outputs: 'tenant',
  skills: 'tenant',
  skill_versions: 'tenant',
  checkpoints: 'tenant',
  past_checkpoints: 'tenant',
  stdio_reports: 'tenant',
  outcomes: 'tenant',
  threads: 'tenant',
  wakeups: 'tenant',
  session_waits: 'tenant',
  idempotency_keys: 'tenant',
  session_metadata: 'tenant',
  deployments: 'tenant',
  deployment_runs: 'tenant',
  dreams: 'tenant',
  publications: 'tenant',
  installations: 'tenant',
  integration_deliveries: 'tenant',
  integration_threads: 'tenant',
  eval_runs: 'tenant',
  eval_samples: 'tenant',
  eval_results: 'tenant',
  eval_datasets: 'tenant',
  package_builds: 'tenant',
  loose_blobs: 'tenant',
  memory_stores: 'tenant',
  memories: 'tenant',
  memory_versions: 'tenant',
  usage_hours: 'tenant',
  usage_days: 'tenant',
  quota_use: 'tenant',
  quota_changes: 'tenant',
  webhook_endpoints: 'tenant',
  webhook_deliveries: 'tenant',
  work: 'tenant',
  work_pollers: 'tenant',
}

const isTable = (name: string): name is keyof Tables => Object.hasOwn(tablePlaces, name)

export const tablesIn = (place: TablePlace): (keyof Tables)[] =>
  Object.keys(tablePlaces)
    .filter(isTable)
    .filter((name) => tablePlaces[name] === place)

/** Tables whose rows move with a tenant. The audit of the deployment stays in control. */
export const movedTables = (): (keyof Tables)[] => [
  ...tablesIn('tenant'),
  'audit_lines',
  'audit_heads',
]

const named = /\b(?:from|into|update|join)\s+"?(\w+)"?/gi

/**
 * Throws for a statement on a table whose rows are in another database. It would read nothing, and write rows that
 * nobody finds.
 */
export function checkTablePlace(sql: string, here: 'control' | 'tenant'): void {
  for (const [, name = ''] of sql.matchAll(named))
    if (isTable(name) && tablePlaces[name] !== 'each' && tablePlaces[name] !== here)
      throw new Error(
        `a statement in the database of ${here === 'tenant' ? 'a tenant' : 'control'} about ${name}, whose rows are in another`,
      )
}
