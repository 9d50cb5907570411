/** Lists of sessions in short, and how the workspace is at a glance. [sessions/summaries] [sessions/overview] */
import { dayMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import type {
  Overview,
  SummaryListQuery as SummaryQuery,
} from '@steward/protocol/session-summaries.ts'
import {
  OverviewQuery,
  OverviewShown,
  SessionSummary,
  SessionSummaryShown,
  SummaryListQuery,
} from '@steward/protocol/session-summaries.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import type { SpendSummary } from '@steward/protocol/spend-limits.ts'
import { waitTypesOf } from '@steward/protocol/waiting-on.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../ground/core/text/cursor.ts'
import { invalid, notFound } from '../ground/core/errors.ts'
import { fromJson } from '../ground/core/text/json-text.ts'
import { centsToUnits } from '../ground/core/text/money.ts'
import { forwardPage } from '../ground/core/text/page.ts'
import type { Reads } from '../ground/database/database.ts'
import { timeComparisons } from '../ground/database/page-order.ts'
import { personIdOf } from '../ground/http/principal.ts'
import type { Route } from '../ground/http/route.ts'
import { section } from '../ground/http/section.ts'
import type { Ground } from '../ground/ground.ts'
import { contextWindow } from '../resources/model-cards/context-window.ts'
import { usageReport } from '../tenants/usage/report.ts'
import { contextTokens, countTurns } from './log/turns.ts'
import type { SessionFilter } from './rows/filters.ts'
import { sessionStore } from './rows/sessions.ts'
import { countFailed, countRunning, listSummaries, readSummaries } from './rows/summaries.ts'
import { waitStore } from './rows/waits.ts'

const summaries = section('Sessions', ['workspace'], '/v1/ext/sessions')
const overviews = section('Sessions', ['workspace'], '/v1/ext/overview')

const shownDays = 14
const Position = z.tuple([z.union([z.string(), z.number()]), z.string()])

export const summaryRoutes = ({
  clock,
  spendSummaries,
  lookedAt,
}: Ground & {
  spendSummaries: (tenant: string) => Promise<SpendSummary[]>
  /** When a person has last looked at the workspace, in milliseconds; null where that is not known. */
  lookedAt: (tenant: string, person: string) => Promise<number | null>
}): Route[] => [
  summaries.get(
    '',
    {
      summary: 'List sessions in short',
      description: 'Without the prompts and tools of their agents, in one of five orders.',
      query: SummaryListQuery,
      isQueryChecked: true,
      answer: ListOf(SessionSummary),
    },
    async ({ db, tenant, query }) => {
      const { sort, order, limit } = query
      if (query.agent_version && !query.agent_id)
        throw invalid('agent_version: can be used only together with agent_id')
      const scope = `summaries/${sort}/${order}`
      const cursor = query.page ?? query.cursor
      const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, Position)
      const paging = { limit, sort, order, after }
      const { rows, more } = await listSummaries(
        db.read,
        tenant,
        paging,
        filterOf(query),
        clock.now(),
      )
      const last = rows.at(-1)
      const next_page = more && last ? encodeCursor(scope, [last.value, last.summary.id]) : null
      const shown = rows.map(({ summary }) => summary)
      return forwardPage(
        shown,
        next_page,
        shown.map(({ id }) => id),
      )
    },
  ),
  summaries.get(
    '/:id',
    {
      summary: 'Get a session in short',
      description:
        'As the list shows it, with the number of its turns and how full the context of its primary thread is.',
      answer: SessionSummaryShown,
    },
    async ({ db: { read }, tenant, params: { id } }) => {
      const row = await sessionStore(read).shownRow(tenant, id)
      const [shown, turns, used_tokens, window_tokens] = await Promise.all([
        readSummaries(read, tenant, [id], clock.now()),
        countTurns(read, tenant, id),
        contextTokens(read, tenant, id),
        contextWindow(read, tenant, fromJson(row.agent).model),
      ])
      const summary = shown.get(id)
      if (!summary) throw notFound('session', id)
      const share = used_tokens && window_tokens ? used_tokens / window_tokens : null
      return { ...summary, turns, context: { used_tokens, window_tokens, share } }
    },
  ),
  overviews.get(
    '',
    {
      summary: 'Get an overview of the workspace',
      description: 'What runs, what waits for whom, what failed, and what it costs.',
      query: OverviewQuery,
      answer: OverviewShown,
    },
    async ({ db: { read }, tenant, principal, query }) => {
      const now = clock.now()
      const earliest = now - shownDays * dayMs
      const person = personIdOf(principal)
      const looked = person === undefined ? null : await lookedAt(tenant, person)
      const usual = looked ?? now - dayMs
      const since = Math.max(query.since ? Date.parse(query.since) : usual, earliest)
      const [running, waiting, sessions, cost, spend_limits] = await Promise.all([
        countRunning(read, tenant),
        waitStore(read).counts(tenant, now),
        countFailed(read, tenant, since),
        costOfDays(read, tenant, now),
        spendSummaries(tenant),
      ])
      const failed = { since: iso(since), sessions }
      return { type: 'overview', running, waiting, failed, ...cost, spend_limits }
    },
  ),
]

const wordsIn = (text = ''): string[] => text.split(/\s+/).filter(Boolean)

const filterOf = (query: SummaryQuery): SessionFilter => ({
  agentId: query.agent_id,
  agentVersion: query.agent_version,
  deploymentId: query.deployment_id,
  environmentId: query.environment_id,
  createdBy: query.created_by,
  forkedFrom: query.forked_from,
  statuses: query.status?.flatMap((status) =>
    status === 'running' ? ['running', 'rescheduling'] : [status],
  ),
  waits: query.waiting_on && waitTypesOf(query.waiting_on),
  cost: {
    least: query.min_cost === undefined ? undefined : centsToUnits(query.min_cost),
    most: query.max_cost === undefined ? undefined : centsToUnits(query.max_cost),
  },
  words: wordsIn(query.text),
  failed: query.failed,
  archived: query.include_archived ?? query.status?.includes('done') ?? false,
  made: timeComparisons(query),
})

async function costOfDays(
  read: Reads,
  tenant: string,
  now: number,
): Promise<Pick<Overview, 'cost_today' | 'days'>> {
  const today = now - (now % dayMs)
  const first = today - (shownDays - 1) * dayMs
  const asked = { starting_at: iso(first), ending_at: iso(now + 1), bucket_width: '1d' } as const
  const { data } = await usageReport(read, tenant, { ...asked, group_by: [] }, now)
  const costs = new Map(
    data.map(({ starting_at, results: [sum] }) => [starting_at, sum?.list_cost ?? null]),
  )
  const nothing = { amount: '0', currency: 'USD' } as const
  const costAt = (at: string) => (costs.has(at) ? (costs.get(at) ?? null) : nothing)
  const days = Array.from({ length: shownDays }, (_, index) => {
    const at = iso(first + index * dayMs)
    return { date: at.slice(0, 10), list_cost: costAt(at) }
  })
  return { cost_today: costAt(iso(today)), days }
}
