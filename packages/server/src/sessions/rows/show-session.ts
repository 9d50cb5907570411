/** The wire form of a session, from its row and the head of its log. */
import type { Session } from '@steward/protocol/sessions.ts'
import { iso } from '@steward/base/time.ts'
import type { CreatorColumns } from '../../ground/core/creator.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { HeadStatus } from '../../ground/database/tables/sessions.ts'
import type { Head } from '../log/head.ts'
import { budgetOf, showHeadUsage } from '../log/head.ts'
import type { ShownOutcome } from './outcomes.ts'
import { showOutcome } from './outcomes.ts'
import type { ResourceRow } from './resources.ts'
import { showResource } from './resources.ts'
import type { ThreadSums } from './threads.ts'
import { activeThreadMs } from './threads.ts'
import { showAgent } from './roster.ts'

/** The row of a session without the columns that only its readers need. */
type ShownColumn = 'roster' | 'deployment_id' | 'forked_from' | keyof CreatorColumns
export type SessionRow = Omit<Tables['sessions'], ShownColumn>

export type ShownSessionRow = Tables['sessions']

/** The time at which the session ended; `now` while it goes on. In milliseconds. */
export const sessionEndMs = (
  { archived_at, status, updated_at }: Pick<Session, 'archived_at' | 'status' | 'updated_at'>,
  now: number,
): number => {
  const end = archived_at ?? (status === 'failed' ? updated_at : null)
  return end === null ? now : Date.parse(end)
}

/** The status of a session that is not deleted, in the interface's words. */
export const sessionStatus = (
  { archived_at }: Pick<ShownSessionRow, 'archived_at'>,
  status: HeadStatus,
): Session['status'] =>
  archived_at && status !== 'failed' ? 'done' : (status as Session['status'])

export function showSession(
  row: ShownSessionRow & Partial<ThreadSums>,
  head: Head,
  {
    now,
    resources = [],
    outcomes = [],
  }: {
    now: number
    resources?: readonly ResourceRow[] | undefined
    outcomes?: readonly ShownOutcome[] | undefined
  },
): Session {
  const usage = showHeadUsage(head, now)
  const threadsMs = activeThreadMs(row, now)
  const status = sessionStatus(row, head.status)
  const endMs = sessionEndMs({ ...row, status }, now)
  return {
    id: row.id,
    type: 'session',
    agent_id: row.agent_id,
    agent_version: row.agent_version,
    agent: showAgent(fromJson(row.agent), row.roster),
    environment_id: row.environment_id,
    status,
    title: row.title,
    metadata: fromJson(row.metadata),
    vault_ids: fromJson(row.vault_ids),
    deployment_id: row.deployment_id,
    resources: resources.map(showResource),
    usage,
    stats: {
      active_seconds: threadsMs === undefined ? usage.active_seconds : threadsMs / 1000,
      duration_seconds: (endMs - Date.parse(row.created_at)) / 1000,
    },
    outcome_evaluations: outcomes.map((each) => showOutcome(each, head)),
    budget: budgetOf(head),
    forked_from: fromJson(row.forked_from),
    wakeup_at: row.wakeup_ms ? iso(Number(row.wakeup_ms)) : null,
    archived_at: row.archived_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
