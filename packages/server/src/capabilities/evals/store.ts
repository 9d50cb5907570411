import { createHash } from 'node:crypto'
import { iso } from '@steward/base/time.ts'
import type {
  Eval,
  EvalCounts,
  EvalResult,
  EvalStatus,
  ResultStatus,
  Score,
} from '@steward/protocol/evals.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { sql } from 'kysely'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import type { WorkInSlots } from '../../ground/core/fairness/work-slots.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { insertRows } from '../../ground/database/statement.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { ComparedRun } from './compare-runs.ts'

export type RunRow = RowOf<'eval_runs'>
export type ResultRow = RowOf<'eval_results'>
export type OpenRun = Pick<RunRow, 'tenant_id' | 'id'>
export type NamedSample = { id: string; sample: Sample }

const openRuns = ['queued', 'running', 'canceling'] as const satisfies EvalStatus[]
const openResults = ['queued', 'running'] as const satisfies ResultStatus[]

/** Rows a statement: both dialects limit its parameters. */
const rowsAtOnce = 500

const noCounts = (): EvalCounts => ({
  total: 0,
  queued: 0,
  running: 0,
  passed: 0,
  failed: 0,
  errored: 0,
  canceled: 0,
})

async function countsOf(
  db: Reads,
  tenant: string,
  runs: readonly string[],
): Promise<Map<string, EvalCounts>> {
  const found = new Map(runs.map((run) => [run, noCounts()]))
  if (runs.length === 0) return found
  const counted = await db
    .selectFrom('eval_results')
    .select(['run_id', 'status', sql<number>`count(*)`.as('count')])
    .where('tenant_id', '=', tenant)
    .where('run_id', 'in', runs)
    .groupBy(['run_id', 'status'])
    .execute()
  for (const { run_id, status, count } of counted) {
    const counts = found.get(run_id)
    if (!counts) continue
    counts[status] += Number(count)
    counts.total += Number(count)
  }
  return found
}

/** The scored trials of a run, with the columns that scores need. */
async function gradedOf(db: Reads, tenant: string, run: string) {
  const found = await db
    .selectFrom('eval_results')
    .select(['sample_id', 'status', 'scores'])
    .where('tenant_id', '=', tenant)
    .where('run_id', '=', run)
    .where('status', 'in', ['passed', 'failed'])
    .orderBy('position')
    .orderBy('trial')
    .execute()
  return found.map(({ scores, ...row }) => ({ ...row, scores: fromJson(scores) }))
}

const showRun = (row: RunRow, counts: EvalCounts): Eval => ({
  id: row.id,
  type: 'eval',
  name: row.name,
  metadata: row.metadata,
  status: row.status,
  ...row.spec,
  counts,
  scores: row.scores ?? [],
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  ended_at: row.ended_at,
})

export const showResult = (row: ResultRow): EvalResult => ({
  id: row.id,
  type: 'eval_result',
  run_id: row.run_id,
  sample_id: row.sample_id,
  trial: row.trial,
  session_id: row.session_id,
  status: row.status,
  scores: row.scores,
  error: row.error,
  answer: row.answer,
  usage: row.usage,
  duration_ms: row.duration_ms,
  started_at: row.started_at,
  ended_at: row.ended_at,
})

function evalReads(db: Reads) {
  const results = () => rows(db, 'eval_results')
  return {
    async get(tenant: string, id: string): Promise<Eval> {
      const row = await rows(db, 'eval_runs').get(tenant, id)
      const counts = await countsOf(db, tenant, [id])
      return showRun(row, counts.get(id) ?? noCounts())
    },

    async list(
      tenant: string,
      paging: Paging,
      { status }: { status?: EvalStatus | undefined },
    ): Promise<Listing<Eval>> {
      const found = await rows(db, 'eval_runs').list(tenant, paging, {
        where: (query) => (status ? query.where('status', '=', status) : query),
      })
      const counts = await countsOf(
        db,
        tenant,
        found.rows.map(({ id }) => id),
      )
      const shown = found.rows.map((row) => showRun(row, counts.get(row.id) ?? noCounts()))
      return { rows: shown, more: found.more }
    },

    results: (
      tenant: string,
      run: string,
      paging: Paging,
      { status, sample }: { status?: ResultStatus | undefined; sample?: string | undefined },
    ): Promise<Listing<ResultRow>> =>
      results().list(tenant, paging, {
        where(query) {
          let found = query.where('run_id', '=', run)
          if (status) found = found.where('status', '=', status)
          return sample === undefined ? found : found.where('sample_id', '=', sample)
        },
      }),

    result: (tenant: string, id: string) => results().get(tenant, id),

    /** Trials of a run in the order of its samples: open trials only, or all. */
    async trials(
      tenant: string,
      run: string,
      { isOpen, limit = rowsAtOnce, after }: { isOpen?: true; limit?: number; after?: ResultRow },
    ): Promise<ResultRow[]> {
      return results().all(tenant, (query) => {
        let found = query.where('run_id', '=', run)
        if (isOpen) found = found.where('status', 'in', openResults)
        if (after)
          found = found.where((eb) =>
            eb.or([
              eb('position', '>', after.position),
              eb.and([eb('position', '=', after.position), eb('trial', '>', after.trial)]),
            ]),
          )
        return found.orderBy('position').orderBy('trial').limit(limit)
      })
    },

    graded: (tenant: string, run: string) => gradedOf(db, tenant, run),

    /** A sample of a run; undefined for a run without this sample. */
    async sample(tenant: string, run: string, id: string): Promise<Sample | undefined> {
      const found = await db
        .selectFrom('eval_samples')
        .select('sample')
        .where('tenant_id', '=', tenant)
        .where('set_id', '=', run)
        .where('id', '=', id)
        .executeTakeFirst()
      return found && fromJson(found.sample)
    },

    /** Costs in US cents of the newest priced trials of an agent. */
    async costs(tenant: string, agent: string): Promise<number[]> {
      const found = await db
        .selectFrom('eval_results')
        .innerJoin('eval_runs', (join) =>
          join
            .onRef('eval_runs.id', '=', 'eval_results.run_id')
            .onRef('eval_runs.tenant_id', '=', 'eval_results.tenant_id'),
        )
        .select('usage')
        .where('eval_results.tenant_id', '=', tenant)
        .where('eval_runs.agent_id', '=', agent)
        .where('usage', 'is not', null)
        .orderBy('eval_results.id', 'desc')
        .limit(200)
        .execute()
      return found.flatMap(({ usage }) => {
        const cost = fromJson(usage)?.list_cost
        return cost ? [Number(cost.amount)] : []
      })
    },

    /** The samples of a run with their scored trials, for a comparison. */
    async compared(tenant: string, id: string): Promise<ComparedRun> {
      const samples = await db
        .selectFrom('eval_samples')
        .select(['id', 'digest'])
        .where('tenant_id', '=', tenant)
        .where('set_id', '=', id)
        .orderBy('position')
        .execute()
      const trials = new Map<string, { passed: boolean; scores: Score[] }[]>()
      for (const { sample_id, status, scores } of await gradedOf(db, tenant, id)) {
        const trial = { passed: status === 'passed', scores }
        trials.set(sample_id, [...(trials.get(sample_id) ?? []), trial])
      }
      return {
        id,
        samples: samples.map((each) => ({ ...each, trials: trials.get(each.id) ?? [] })),
      }
    },

    /** Across tenants: the owners of runs that have not ended; null for runs without an owner. */
    async owners(): Promise<(string | null)[]> {
      const found = await db
        .selectFrom('eval_runs')
        .select('owner')
        .distinct()
        .where('status', 'in', openRuns)
        .execute()
      return found.map(({ owner }) => owner)
    },

    /** Across tenants: open runs that no living process drives, oldest first. */
    waiting(
      { now, dead, skipped }: { now: number; dead: readonly string[]; skipped: WorkInSlots },
      limit: number,
    ): Promise<OpenRun[]> {
      const { ids, tenants } = skipped
      let open = db
        .selectFrom('eval_runs')
        .select(['tenant_id', 'id'])
        .where('status', 'in', openRuns)
        .where((eb) =>
          eb.or([
            eb('owner', 'is', null),
            eb('expires_at', '<=', now),
            ...(dead.length > 0 ? [eb('owner', 'in', dead)] : []),
          ]),
        )
      if (ids.length > 0) open = open.where('id', 'not in', ids)
      if (tenants.length > 0) open = open.where('tenant_id', 'not in', tenants)
      return open.orderBy('id').limit(limit).execute()
    },
  }
}

function evalWrites(db: Queries) {
  return {
    async insertResults(results: readonly ResultRow[]): Promise<void> {
      for (let at = 0; at < results.length; at += rowsAtOnce)
        await insertRows(
          db,
          'eval_results',
          results.slice(at, at + rowsAtOnce).map((row) => ({
            ...row,
            step: toJson(row.step),
            scores: toJson(row.scores),
            error: row.error && toJson(row.error),
            usage: row.usage && toJson(row.usage),
          })),
        )
    },

    async updateRun(row: RunRow, columns: Partial<RunRow>, now: number): Promise<RunRow> {
      return rows(db, 'eval_runs').update(row, { ...columns, updated_at: iso(now) })
    },

    /** Cancels the trials that have not begun. */
    async cancelQueued(tenant: string, run: string, now: number): Promise<void> {
      await db
        .updateTable('eval_results')
        .set({ status: 'canceled', ended_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('run_id', '=', run)
        .where('status', '=', 'queued')
        .execute()
    },
  }
}

/** Inserts the samples of a run or a dataset. */
export async function insertSamples(
  db: Queries,
  { tenant, set, since }: { tenant: string; set: string; since: number },
  samples: readonly (NamedSample & { position: number })[],
): Promise<void> {
  for (let at = 0; at < samples.length; at += rowsAtOnce) {
    const some = samples.slice(at, at + rowsAtOnce)
    const values = some.map(({ id, sample, position }) => ({
      tenant_id: tenant,
      set_id: set,
      id,
      since,
      until: null,
      position,
      digest: digestSample(sample),
      sample: toJson(sample),
    }))
    await insertRows(db, 'eval_samples', values)
  }
}

/** Identifies a sample across runs: equal digests mean equal samples. */
export const digestSample = (sample: Sample): string =>
  createHash('sha256').update(JSON.stringify(sample)).digest('hex')

/** Runs of agents over samples, and their trials. */
export const evalStore = defineStore(evalReads, evalWrites)
