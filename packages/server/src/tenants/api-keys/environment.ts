import { notFound } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'

/** Throws when the tenant has no such environment. Reads the row of another room and writes none. */
export async function checkEnvironment(db: Reads, tenant: string, id: string): Promise<void> {
  const row = await db
    .selectFrom('environments')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('environment', id)
}
