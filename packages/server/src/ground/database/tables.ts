/** Every table, with the types of its rows. The declarations lie in `tables/`, one file a noun. */
import type { Json } from '../core/text/json-text.ts'
import type { RowsLocation, RowFor, TableDeclaration } from './table.ts'
import { agentTables } from './tables/agents.ts'
import { apiKeyTables } from './tables/api-keys.ts'
import { auditTables } from './tables/audit.ts'
import { checkpointTables } from './tables/checkpoints.ts'
import { deploymentTables } from './tables/deployments.ts'
import { dreamTables } from './tables/dreams.ts'
import { environmentTables } from './tables/environments.ts'
import { evalTables } from './tables/evals.ts'
import { fileTables } from './tables/files.ts'
import { idempotencyTables } from './tables/idempotency.ts'
import { integrationTables } from './tables/integrations.ts'
import { limitTables } from './tables/limits.ts'
import { logTables } from './tables/log.ts'
import { memoryTables } from './tables/memory.ts'
import { modelCardTables } from './tables/model-cards.ts'
import { oauthTables } from './tables/oauth.ts'
import { outcomeTables } from './tables/outcomes.ts'
import { peopleTables } from './tables/people.ts'
import { ruleTables } from './tables/rules.ts'
import { sessionTables } from './tables/sessions.ts'
import { settingTables } from './tables/settings.ts'
import { skillTables } from './tables/skills.ts'
import { tenantDatabaseTables } from './tables/tenant-databases.ts'
import { threadTables } from './tables/threads.ts'
import { usageTables } from './tables/usage.ts'
import { vaultTables } from './tables/vaults.ts'
import { wakeupTables } from './tables/wakeups.ts'
import { webhookTables } from './tables/webhooks.ts'
import { workTables } from './tables/work.ts'
import { workspaceTables } from './tables/workspaces.ts'

export const tables = {
  ...agentTables,
  ...apiKeyTables,
  ...auditTables,
  ...checkpointTables,
  ...deploymentTables,
  ...dreamTables,
  ...environmentTables,
  ...evalTables,
  ...fileTables,
  ...idempotencyTables,
  ...integrationTables,
  ...limitTables,
  ...logTables,
  ...memoryTables,
  ...modelCardTables,
  ...oauthTables,
  ...outcomeTables,
  ...peopleTables,
  ...ruleTables,
  ...sessionTables,
  ...settingTables,
  ...skillTables,
  ...tenantDatabaseTables,
  ...threadTables,
  ...usageTables,
  ...vaultTables,
  ...wakeupTables,
  ...webhookTables,
  ...workTables,
  ...workspaceTables,
}

type DeclaredTables = typeof tables

/** The rows of each table as they are stored. */
export type Tables = { [Name in keyof DeclaredTables]: RowFor<DeclaredTables[Name]['columns']> }

export type TableName = keyof Tables

/** Tables that `rows()` reads and writes. */
export type RowTable = {
  [Name in TableName]: DeclaredTables[Name] extends { readonly noun: string } ? Name : never
}[TableName]

type DecodedColumn<Value> = Value extends Json<infer Held> ? Held : Value

/** A row of the table with its JSON decoded. */
export type RowOf<Name extends TableName> = {
  [Column in keyof Tables[Name]]: DecodedColumn<Tables[Name][Column]>
}

/** Tables with a lease in each row. */
export type LeasedTable = {
  [Name in TableName]: DeclaredTables[Name] extends { readonly lease: object } ? Name : never
}[TableName]

/** The columns of a table's primary key. */
export type KeyOf<Name extends TableName> = {
  [Column in DeclaredTables[Name]['key'][number] & keyof Tables[Name]]: Tables[Name][Column]
}

export const declarationOf = (name: TableName): TableDeclaration => tables[name]

export const isTable = (name: string): name is TableName => Object.hasOwn(tables, name)

export const tableNames: readonly TableName[] = Object.keys(tables).filter(isTable)

export const tablesIn = (rows: RowsLocation): TableName[] =>
  tableNames.filter((name) => tables[name].rows === rows)

/** Tables whose rows move with a tenant. The audit of the deployment stays in control. */
export const movedTables = (): TableName[] => [...tablesIn('tenant'), 'audit_lines', 'audit_heads']

const named = /\b(?:from|into|update|join)\s+"?(\w+)"?/gi

/**
 * Throws for a statement on a table whose rows are in another database. It would read nothing, and write rows that
 * nobody finds.
 */
export function checkTableLocation(sql: string, here: 'control' | 'tenant'): void {
  for (const [, name = ''] of sql.matchAll(named))
    if (isTable(name) && tables[name].rows !== 'each' && tables[name].rows !== here)
      throw new Error(
        `a statement in the database of ${here === 'tenant' ? 'a tenant' : 'control'} about ${name}, whose rows are in another`,
      )
}
