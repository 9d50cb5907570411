import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

type StdioReportRow = Tables['stdio_reports']

/** Conditions as they stand literally in the partial indexes, because SQLite uses a partial index only then. */
const awaits = sql<boolean>`awaits_stdio = 1`
const isLive = sql<boolean>`work.state <> 'stopped'`

function reportReads(db: Reads) {
  return {
    report: (tenant: string, session: string): Promise<StdioReportRow | undefined> =>
      db
        .selectFrom('stdio_reports')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .executeTakeFirst(),

    /** Sessions of all tenants whose turn has waited too long for a worker's servers, or which no worker can claim. */
    overdue: (
      now: number,
      { marginMs, limit }: { marginMs: number; limit: number },
    ): Promise<{ tenant_id: string; session_id: string }[]> =>
      db
        .selectFrom('session_heads as head')
        .leftJoin('work', (join) =>
          join
            .onRef('work.tenant_id', '=', 'head.tenant_id')
            .onRef('work.session_id', '=', 'head.session_id')
            .on(isLive),
        )
        .select(['head.tenant_id', 'head.session_id'])
        .where(awaits)
        .where('head.due', '=', 0)
        .where((eb) =>
          eb.or([
            eb('work.id', 'is', null),
            eb('work.reserved_ms', '<=', eb(eb.val(now - marginMs), '-', eb.ref('head.stdio_ms'))),
          ]),
        )
        .limit(limit)
        .execute(),
  }
}

function reportWrites(db: Queries) {
  return {
    /** Replaces the earlier report. */
    async put(report: StdioReportRow): Promise<void> {
      const { work_id, generation, servers } = report
      await db
        .insertInto('stdio_reports')
        .values(report)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'session_id'])
            .doUpdateSet({ work_id, generation, servers }),
        )
        .execute()
    },

    async remove(tenant: string, session: string): Promise<void> {
      await db
        .deleteFrom('stdio_reports')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

export const stdioStore = defineStore(reportReads, reportWrites)
