import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { summaryOrders } from '@steward/protocol/session-summaries.ts'
import type { WaitType } from '@steward/protocol/waiting-on.ts'
import { waitKinds } from '@steward/protocol/waiting-on.ts'
import type { KyselyPlugin, RawBuilder, RootOperationNode } from 'kysely'
import { CompiledQuery, createQueryId, sql } from 'kysely'
import { z } from 'zod'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { databases } from '../../ground/database/fixture.ts'
import { withoutNotices } from '../../ground/database/notices.ts'
import { newSession } from '../fixture.ts'
import { agentMessage, keepEvents, tenant } from '../log/fixture.ts'
import type { SessionFilter } from './filters.ts'
import { countFailed, countRunning, listSummaries } from './summaries.ts'
import { waitStore } from './waits.ts'

const count = 10_000
const now = Date.UTC(2031, 0)

/** Numbers from 1 to 10,000, as `n`. */
const numbers = {
  sqlite: sql`(with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${sql.lit(count)})
    select n from counted)`,
  postgres: sql`(select * from generate_series(1, ${sql.lit(count)}) as counted (n))`,
} satisfies Record<Database['dialect'], RawBuilder<unknown>>

/** Copies the row of one session, `count` times, with what `changed` says of the columns that differ. */
async function copyRows(
  tx: Queries,
  dialect: Database['dialect'],
  table: 'sessions' | 'session_heads',
  [key, id]: readonly [key: 'id' | 'session_id', id: string],
  changed: Record<string, RawBuilder<unknown>>,
): Promise<void> {
  const [row] = await tx.selectFrom(table).selectAll().where(sql.ref(key), '=', id).execute()
  assert.ok(row)
  const names = Object.keys(row)
  const values = names.map((name) => changed[name] ?? sql.ref(`one.${name}`))
  await sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    select ${sql.join(values)} from ${sql.table(table)} as one, ${numbers[dialect]} as numbers
    where ${sql.ref(`one.${key}`)} = ${id}`.execute(tx)
}

/** 10,000 sessions of one workspace, and as many of another. */
async function insertMany(database: Database): Promise<void> {
  for (const workspace of [tenant, 'wrkspc_other']) {
    const id = await newSession(database, 'idle', workspace)
    await keepEvents(database, id, [agentMessage('hello')])
    const { dialect } = database
    const copy = sql`${workspace} || '_' || n`
    await database.write(async (tx) => {
      await copyRows(tx, dialect, 'sessions', ['id', id], { id: copy })
      const cents = { changed_ms: sql`n`, list_cost: sql`n` }
      await copyRows(tx, dialect, 'session_heads', ['session_id', id], {
        session_id: copy,
        ...cents,
      })
    })
  }
  await database.write(async (tx) => {
    for (const table of ['sessions', 'session_heads'])
      await sql`analyze ${sql.table(table)}`.execute(tx)
  })
}

/** Indexes that hold the few sessions that wait or run, of all workspaces, and no others. */
const ofFew = [
  'heads_owned',
  'heads_due',
  'heads_awaiting',
  'heads_at_budget',
  'calls_open',
  'work_held',
]
/** Tables with a row or more for each session. In plans of SQLite they have the names of the statements. */
const large = ['sessions', 'session_heads', 'events', 'calls', 'threads', 'inbox']
const largeByName = [...large, 'head', 'event', 'message', 'error', 'call']

const PlanNode = z.looseObject({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Index Cond': z.string().optional(),
  get Plans() {
    return z.array(PlanNode).optional()
  },
})
type PlanNode = z.infer<typeof PlanNode>

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

type Plan = {
  text: string
  /** Steps that read a large table, or one of its indexes, from its beginning to its end. */
  scans: string[]
  /** Whether all that was found is sorted before the first row comes. */
  isSorted: boolean
}

function planOfSqlite(rows: Record<string, unknown>[]): Plan {
  const steps = rows.map(({ detail }) => String(detail))
  /** Subqueries whose rows are read once, under names that tables have too. */
  const subqueries = steps.flatMap(
    (step) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/.exec(step)?.[1] ?? [],
  )
  const isScan = (step: string): boolean => {
    const [, name = '', index = ''] =
      /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(step) ?? []
    if (!largeByName.includes(name) || ofFew.includes(index)) return false
    const subquery = subqueries.indexOf(name)
    if (subquery >= 0) subqueries.splice(subquery, 1)
    return subquery < 0
  }
  return {
    text: steps.join('\n'),
    scans: steps.filter(isScan),
    isSorted: steps.includes('USE TEMP B-TREE FOR ORDER BY'),
  }
}

function planOfPostgres(rows: Record<string, unknown>[]): Plan {
  const [{ Plan: top }] = z.tuple([z.object({ Plan: PlanNode })]).parse(rows[0]?.['QUERY PLAN'])
  const nodes = nodesOf(top)
  const isScan = (node: PlanNode): boolean => {
    const { 'Node Type': type, 'Relation Name': relation = '', 'Index Name': index } = node
    if (type === 'Seq Scan') return large.includes(relation)
    return index !== undefined && node['Index Cond'] === undefined && !ofFew.includes(index)
  }
  return {
    text: JSON.stringify(top, null, 1),
    scans: nodes.filter(isScan).map(({ Plans: _, ...node }) => JSON.stringify(node)),
    isSorted: nodes.some((node) => node['Node Type'] === 'Sort'),
  }
}

/** The plans of all statements that `work` sends. */
async function plansOf(db: Database, work: (tx: Queries) => Promise<unknown>): Promise<Plan[]> {
  const sent: RootOperationNode[] = []
  const recording: KyselyPlugin = {
    transformQuery({ node }) {
      sent.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return db.write(async (tx) => {
    sent.length = 0
    // Only what no index serves is read by a scan then, however small the table is.
    if (db.dialect === 'postgres') await sql`set local enable_seqscan = off`.execute(tx)
    await work(withoutNotices(tx.withPlugin(recording)))
    const plans: Plan[] = []
    for (const node of sent) {
      const compiled = tx.getExecutor().compileQuery(node, createQueryId())
      const explain = db.dialect === 'sqlite' ? 'explain query plan' : 'explain (format json)'
      const explained = CompiledQuery.raw(`${explain} ${compiled.sql}`, [...compiled.parameters])
      const { rows } = await tx.executeQuery<Record<string, unknown>>(explained)
      plans.push(db.dialect === 'sqlite' ? planOfSqlite(rows) : planOfPostgres(rows))
    }
    return plans
  })
}

const all = { archived: false, made: [] }
const types = Object.keys(waitKinds) as WaitType[]
/** Every filter that the list takes. */
const filters: Record<string, SessionFilter> = {
  none: all,
  include_archived: { ...all, archived: true },
  status: { ...all, statuses: ['running', 'rescheduling'] },
  agent_id: { ...all, agentId: 'agent_test' },
  agent_version: { ...all, agentId: 'agent_test', agentVersion: 1 },
  environment_id: { ...all, environmentId: 'env_test' },
  deployment_id: { ...all, deploymentId: 'depl_1' },
  created_by: { ...all, createdBy: 'key_1' },
  created_at: { ...all, made: [{ op: '>=', at: iso(0) }] },
  min_cost: { ...all, cost: { least: 10 } },
  max_cost: { ...all, cost: { most: 10 } },
  text: { ...all, words: ['hello', 'there'] },
  failed: { ...all, failed: true },
  ...Object.fromEntries(types.map((type) => [`waiting_on ${type}`, { ...all, waits: [type] }])),
}

for (const [dialect, open] of Object.entries(databases)) {
  void describe(`the plans for 10,000 sessions on ${dialect}`, () => {
    let opened: TestDatabase
    before(async () => {
      opened = await open()
      await insertMany(opened.database)
    })
    after(() => opened[Symbol.asyncDispose]())

    async function pagePlans(paging: Parameters<typeof listSummaries>[2], filter: SessionFilter) {
      const { database } = opened
      const plans = await plansOf(database, (tx) => listSummaries(tx, tenant, paging, filter, now))
      assert.ok(plans.length > 0)
      return plans
    }

    for (const [name, filter] of Object.entries(filters))
      void it(`read no table from end to end for a page by ${name}, in any order`, async () => {
        for (const sort of summaryOrders)
          for (const order of ['asc', 'desc'] as const)
            for (const { scans, text } of await pagePlans({ limit: 50, sort, order }, filter))
              assert.deepEqual(scans, [], `${sort} ${order}\n${text}`)
      })

    void it('read no more than the page in the orders that have an index', async () => {
      for (const sort of ['created', 'active'] as const)
        for (const after of [undefined, [sort === 'created' ? iso(0) : 5_000, 'x'] as const]) {
          const [page] = await pagePlans({ limit: 50, sort, order: 'desc', after }, all)
          assert.equal(page?.isSorted, false, `${sort}\n${page?.text}`)
        }
    })

    void it('read no table from end to end for the overview', async () => {
      const plans = await plansOf(opened.database, async (tx) => {
        await countRunning(tx, tenant)
        await waitStore(tx).counts(tenant, now)
        await countFailed(tx, tenant, now)
      })
      assert.equal(plans.length, 3)
      for (const { scans, text } of plans) assert.deepEqual(scans, [], text)
    })
  })
}
