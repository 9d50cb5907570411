/** How far each chain was sent to the stream of the audit. */
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { ChainHead, Trail } from '../trails/trails.ts'

export type UnsentChain = Pick<ChainHead, 'first_seq' | 'seq'> & {
  tenant_id: string
  trail: Trail
  sent: number
}

function streamReads(db: Reads) {
  return {
    /** Chains with lines that were not sent, across all tenants of the database. */
    async unsent(): Promise<UnsentChain[]> {
      const rows = await selectRaw(
        db,
        sql<UnsentChain>`
        select head.tenant_id, head.trail, head.seq, head.first_seq, coalesce(stream.seq, 0) as sent
        from audit_heads as head
        left join audit_streams as stream
          on stream.tenant_id = head.tenant_id and stream.trail = head.trail
        where head.seq > coalesce(stream.seq, 0)
        order by head.tenant_id, head.trail`,
      )
      return rows.map(({ seq, first_seq, sent, ...chain }) => ({
        ...chain,
        seq: Number(seq),
        first_seq: Number(first_seq),
        sent: Number(sent),
      }))
    },

    /** The newest line that was sent. */
    async position(tenant: string, trail: Trail): Promise<number> {
      const row = await db
        .selectFrom('audit_streams')
        .select('seq')
        .where('tenant_id', '=', tenant)
        .where('trail', '=', trail)
        .executeTakeFirst()
      return Number(row?.seq ?? 0)
    },
  }
}

function streamWrites(tx: Queries) {
  return {
    /** Creates the row of a chain, which the lease needs. */
    async create(tenant: string, trail: Trail): Promise<void> {
      await tx
        .insertInto('audit_streams')
        .values({ tenant_id: tenant, trail, seq: 0, owner: null, expires_at: 0 })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'trail']).doNothing())
        .execute()
    },

    /** False, and without effect, when this process has lost the lease. */
    async advance(tenant: string, trail: Trail, { seq, owner }: { seq: number; owner: string }) {
      const { numUpdatedRows } = await tx
        .updateTable('audit_streams')
        .set({ seq })
        .where('tenant_id', '=', tenant)
        .where('trail', '=', trail)
        .where('owner', '=', owner)
        .where('seq', '<', seq)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
  }
}

export const auditStreamStore = defineStore(streamReads, streamWrites)
