/** Rows of trails by their numbers in the chain, and the heads. */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { lockAdvisory, forUpdate } from '../../../ground/database/lock.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { statementByForm, statement } from '../../../ground/database/statement.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { ChainHead, Trail, TrailRow } from './trails.ts'
import { trailColumns, auditTrails } from './trails.ts'

export type ChainLink = { id: string; seq: number; hash: string }

/** Batch sizes. Few, so that each has one prepared statement. */
const sizes = [64, 8, 1]

const linkStatement = statementByForm((table: Trail, count: number) =>
  statement((tx, slot: SlotFor<{ tenant: string; links: readonly ChainLink[] }>) => {
    const rows = Array.from({ length: count }, (_, index) => {
      const id = slot(({ links }) => links[index]?.id)
      const seq = slot(({ links }) => Number(links[index]?.seq))
      const hash = slot(({ links }) => links[index]?.hash)
      return sql`(${id}, cast(${seq} as bigint), ${hash})`
    })
    return sql`update ${sql.table(table)} set seq = e.column2, hash = e.column3
      from (values ${sql.join(rows)}) as e
      where tenant_id = ${slot(({ tenant }) => tenant)} and id = e.column1
        and seq is null`.compile(tx)
  }),
)

const columnsOf = (trail: Trail) =>
  sql.join([...trailColumns[trail], 'seq', 'hash'].map((name) => sql.ref(name)))

const headRow = (db: Reads, tenant: string, trail: Trail) =>
  db
    .selectFrom('audit_heads')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('trail', '=', trail)

export type ExportedRow = TrailRow & { previous: string | null }
export type ExportPage = {
  after: { seq: number } | { created_at: string; id: string }
  from?: string | undefined
  to?: string | undefined
  limit: number
}

function trailReads(db: Reads) {
  const rows = <Row>(query: RawBuilder<Row>) => selectRaw(db, query)
  return {
    head: (tenant: string, trail: Trail) => headRow(db, tenant, trail).executeTakeFirst(),

    /** Chains with unchained lines, across all tenants of the database. */
    due(some: readonly Trail[] = auditTrails): Promise<{ tenant_id: string; trail: Trail }[]> {
      const each = some.map(
        (trail) => sql`select distinct tenant_id, ${sql.lit(trail)} as trail
          from ${sql.table(trail)} where seq is null`,
      )
      return rows(sql<{ tenant_id: string; trail: Trail }>`${sql.join(each, sql` union all `)}`)
    },

    /** Committed lines that are not chained, and so not protected yet. */
    async countUnchained(tenant: string, trail: Trail): Promise<number> {
      const [row] = await rows(sql<{ lines: number | string }>`
        select count(*) as lines from ${sql.table(trail)}
        where tenant_id = ${tenant} and seq is null`)
      return Number(row?.lines ?? 0)
    },

    unchained: (tenant: string, trail: Trail, limit: number): Promise<TrailRow[]> =>
      rows(sql<TrailRow>`select ${columnsOf(trail)} from ${sql.table(trail)}
        where tenant_id = ${tenant} and seq is null order by created_at, id limit ${limit}`),

    /** Chained lines after `(seq, id)`, up to the number `most`. */
    chained: (
      tenant: string,
      trail: Trail,
      { seq, id, most, limit }: { seq: number; id: string; most: number; limit: number },
    ): Promise<TrailRow[]> =>
      rows(sql<TrailRow>`select ${columnsOf(trail)} from ${sql.table(trail)}
        where tenant_id = ${tenant} and seq > 0 and seq <= ${most} and (seq, id) > (${seq}, ${id})
        order by seq, id limit ${limit}`),

    /** The line with the highest number. */
    newest: async (tenant: string, trail: Trail) =>
      (
        await rows(sql<{ id: string; seq: number }>`select id, seq from ${sql.table(trail)}
          where tenant_id = ${tenant} and seq > 0 order by seq desc limit 1`)
      )[0],

    /** A line that claims to be older than the chain, and is not. */
    misdated: async (tenant: string, trail: Trail, begunAt: string) =>
      (
        await rows(sql<{ id: string; seq: number }>`select id, seq from ${sql.table(trail)}
          where tenant_id = ${tenant} and (seq = 0 or seq < 0 and created_at >= ${begunAt})
          limit 1`)
      )[0],

    /** The oldest chained lines. */
    beginning: (tenant: string, trail: Trail, from: number, limit: number) =>
      rows(sql<{ id: string; seq: number; hash: string; created_at: string }>`
        select id, seq, hash, created_at from ${sql.table(trail)}
        where tenant_id = ${tenant} and seq >= ${from} order by seq limit ${limit}`),

    /** Chained lines in the order of the chain, or unchained lines in the order of age, by the form of `after`. */
    exported(
      tenant: string,
      trail: Trail,
      { after, from, to, limit }: ExportPage,
    ): Promise<ExportedRow[]> {
      const isChained = 'seq' in after
      const conditions = [
        sql`tenant_id = ${tenant}`,
        ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
        ...(to === undefined ? [] : [sql`created_at < ${to}`]),
        isChained
          ? sql`seq > ${after.seq}`
          : sql`(seq is null or seq < 0) and (created_at, id) > (${after.created_at}, ${after.id})`,
      ]
      return rows(sql<ExportedRow>`
        select ${columnsOf(trail)}, (select earlier.hash from ${sql.table(trail)} as earlier
            where earlier.tenant_id = line.tenant_id and earlier.seq = line.seq - 1
              and earlier.seq > 0) as previous
        from ${sql.table(trail)} as line where ${sql.join(conditions, sql` and `)}
        order by ${isChained ? sql`seq` : sql`created_at, id`} limit ${limit}`)
    },

    /** Lines of the workspace in the control database that wait for their move. */
    waiting: (tenant: string, limit: number) =>
      db
        .selectFrom('audit_lines')
        .selectAll()
        .where('seq', 'is', null)
        .where('tenant_id', '=', tenant)
        .orderBy('id')
        .limit(limit)
        .execute(),
  }
}

function trailWrites(tx: Queries) {
  return {
    /** Locks the chain until the transaction ends, and returns its newest head. */
    async findHeadForUpdate(tenant: string, trail: Trail): Promise<ChainHead | undefined> {
      // A new chain has no row that could be locked.
      await lockAdvisory(tx, `audit/${tenant}/${trail}`)
      return forUpdate(tx, headRow(tx, tenant, trail)).executeTakeFirst()
    },

    async putHead(head: ChainHead): Promise<void> {
      const { tenant_id: _tenant, trail: _trail, ...columns } = head
      await tx
        .insertInto('audit_heads')
        .values(head)
        .onConflict((conflict) => conflict.columns(['tenant_id', 'trail']).doUpdateSet(columns))
        .execute()
    },

    heads: () => tx.selectFrom('audit_heads').selectAll().execute(),

    async sign(head: ChainHead, signature: string): Promise<void> {
      await tx
        .updateTable('audit_heads')
        .set({ signature })
        .where('tenant_id', '=', head.tenant_id)
        .where('trail', '=', head.trail)
        // A head that changed meanwhile already has a signature of the newest key.
        .where('signature', '=', head.signature)
        .execute()
    },

    async link(tenant: string, trail: Trail, links: readonly ChainLink[]): Promise<void> {
      for (let at = 0; at < links.length;) {
        const size = sizes.find((each) => each <= links.length - at) ?? 1
        await linkStatement(trail, size)(tx, { tenant, links: links.slice(at, at + size) })
        at += size
      }
    },
  }
}

export const trailStore = defineStore(trailReads, trailWrites)
