/** Which process builds a layer, so that no other of the deployment builds the same meanwhile. */
import type { Database, Databases, Queries } from '../../ground/database/database.ts'
import { isFree, leaseMs } from '../../ground/database/lease.ts'

/** Qualified, since the row to insert has the same columns. */
const buildLease = { owner: 'package_builds.owner', expires: 'package_builds.expires_at' }

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
      const database = await databases.open(tenant)
      const found = await database.read
        .selectFrom('package_builds')
        .select('owner')
        .where('tenant_id', '=', tenant)
        .where('layer', '=', layer)
        .executeTakeFirst()
      const dead = found ? await database.owners.dead([found.owner]) : []
      return database.write(async (tx) => {
        const held = { owner: database.owners.self, expires_at: now + leaseMs }
        const [made] = await tx
          .insertInto('package_builds')
          .values({ tenant_id: tenant, layer, ...held })
          .onConflict((conflict) =>
            conflict
              .columns(['tenant_id', 'layer'])
              .doUpdateSet(held)
              .where(isFree(buildLease, dead, now)),
          )
          .execute()
        return Number(made?.numInsertedOrUpdatedRows ?? 0) === 1
      })
    },

    async prolong(tenant, layer, now) {
      const database = await databases.open(tenant)
      await database.write((tx) =>
        mine(database, tx, tenant, layer)
          .set({ expires_at: now + leaseMs })
          .execute(),
      )
    },

    async release(tenant, layer) {
      const database = await databases.open(tenant)
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
