/** Which process builds a layer, so that no other of the deployment builds the same meanwhile. */
import type { Database, Databases, Queries } from '../../ground/database/database.ts'
import { leaseMs } from '../../ground/database/lease.ts'

export type BuildLocks = {
  /** Whether it is this process's now. */
  claim(tenant: string, layer: string, now: number): Promise<boolean>
  prolong(tenant: string, layer: string, now: number): Promise<void>
  release(tenant: string, layer: string): Promise<void>
}

export function buildLocks(databases: Databases): BuildLocks {
  const mine = ({ owners }: Database, tx: Queries, tenant: string, layer: string) =>
    tx
      .updateTable('package_builds')
      .where('tenant_id', '=', tenant)
      .where('layer', '=', layer)
      .where('owner', '=', owners.self)

  return {
    async claim(tenant, layer, now) {
      const database = databases.of(tenant)
      const { self } = database.owners
      const found = await database.read
        .selectFrom('package_builds')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('layer', '=', layer)
        .executeTakeFirst()
      const isFree =
        found !== undefined &&
        (found.expires_at < now || (await database.owners.dead([found.owner])).length > 0)
      if (found && !isFree) return false
      return database.write(async (tx) => {
        if (found)
          await tx
            .deleteFrom('package_builds')
            .where('tenant_id', '=', tenant)
            .where('layer', '=', layer)
            .where('owner', '=', found.owner)
            .where('expires_at', '=', found.expires_at)
            .execute()
        const row = { tenant_id: tenant, layer, owner: self, expires_at: now + leaseMs }
        const [made] = await tx
          .insertInto('package_builds')
          .values(row)
          .onConflict((conflict) => conflict.columns(['tenant_id', 'layer']).doNothing())
          .execute()
        return Number(made?.numInsertedOrUpdatedRows ?? 0) === 1
      })
    },

    async prolong(tenant, layer, now) {
      const database = databases.of(tenant)
      await database.write((tx) =>
        mine(database, tx, tenant, layer)
          .set({ expires_at: now + leaseMs })
          .execute(),
      )
    },

    async release(tenant, layer) {
      const database = databases.of(tenant)
      await database.write((tx) =>
        tx
          .deleteFrom('package_builds')
          .where('tenant_id', '=', tenant)
          .where('layer', '=', layer)
          .where('owner', '=', database.owners.self)
          .execute(),
      )
    },
  }
}
