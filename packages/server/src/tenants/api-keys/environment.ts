import { notFound } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'

/** A key is bound to an environment that exists; rows of another room are only read here. */
export async function checkEnvironment(db: Reads, tenant: string, id: string): Promise<void> {
  const row = await db
    .selectFrom('environments')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('environment', id)
}
