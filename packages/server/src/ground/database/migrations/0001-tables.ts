import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'
import { capabilityTables } from './tables/capabilities.ts'
import { controlTables } from './tables/control.ts'
import { tableForms } from './tables/forms.ts'
import { quotaTriggers } from './tables/quota-triggers.ts'
import { resourceTables } from './tables/resources.ts'
import { sessionTables } from './tables/sessions.ts'
import { usageTriggers } from './tables/usage-triggers.ts'
import { usageTables } from './tables/usage.ts'
import { workTables } from './tables/work.ts'

/**
 * All tables, with their indexes and triggers. An index is partial where few rows matter, so that a long history costs
 * nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const dialect = dialectOf(db)
  const forms = tableForms[dialect]
  const statements = [
    ...controlTables(dialect),
    ...[...resourceTables(forms), ...sessionTables(forms), ...workTables, ...capabilityTables],
    ...[...usageTables, ...usageTriggers[dialect], ...quotaTriggers[dialect]],
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
