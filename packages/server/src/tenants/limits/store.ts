import { sql } from 'kysely'
import type { Queries } from '../../ground/database/database.ts'
import type { Draw, DrawTokens } from './drawn.ts'

/** The database's clock in microseconds: clocks of processes differ. */
const clockNow = sql`(extract(epoch from clock_timestamp()) * 1000000)::bigint`

/** Counters on Postgres. */
export const rateStore = (db: Queries) => ({
  /** One statement; two processes that draw at the same time draw one after the other. */
  async draw(...[key, { interval, burst }, most]: Parameters<DrawTokens>): Promise<Draw> {
    const start = sql`least(greatest(r.full_at, excluded.seen), excluded.seen + ${burst}::bigint)`
    const drawn = sql`least((excluded.seen + ${burst}::bigint - ${start}) / ${interval}::bigint, ${most}::bigint)`
    const { rows } = await sql<{ drawn: number; full_at: number; seen: number }>`
      insert into rate_limits as r (key, full_at, drawn, seen)
        select ${key}, now + ${most * interval}::bigint, ${most}::bigint, now
        from (select ${clockNow} as now) as clock
      on conflict (key) do update set
        drawn = ${drawn}, full_at = ${start} + ${drawn} * ${interval}::bigint, seen = excluded.seen
      returning drawn, full_at, seen`.execute(db)
    const [row] = rows
    if (!row) throw new Error('a draw of tokens has returned no row')
    return { tokens: row.drawn, fullAt: row.full_at, now: row.seen }
  },

  /** A full bucket is as good as none. */
  async removeFull(): Promise<void> {
    await sql`delete from rate_limits where full_at < ${clockNow}`.execute(db)
  },
})
