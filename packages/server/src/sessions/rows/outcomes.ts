import type { OutcomeEvaluation } from '@steward/protocol/outcomes.ts'
import type { HeadOutcome } from '../../ground/database/tables/outcomes.ts'
import { outcomeStage } from '../log/outcome-stage.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type OutcomeRow = Tables['outcomes']

/** The columns of an outcome that a session shows: all except the rubric, which may be long. */
const shownColumns = [
  'session_id',
  'id',
  'description',
  'iteration',
  'result',
  'explanation',
  'completed_at',
] as const
export type ShownOutcome = Pick<OutcomeRow, (typeof shownColumns)[number]>

/** Takes the stage `running` from the head: the row of an outcome is not written when its work begins. */
export const showOutcome = (row: ShownOutcome, { outcome }: HeadOutcome): OutcomeEvaluation => ({
  type: 'outcome_evaluation',
  outcome_id: row.id,
  description: row.description,
  iteration: row.iteration,
  result: row.result === 'pending' && outcome !== outcomeStage.pending ? 'running' : row.result,
  explanation: row.explanation,
  completed_at: row.completed_at,
})

/** Results of an outcome that is still open. */
const open = ['pending', 'running', 'evaluating'] as const

function outcomeReads(db: Reads) {
  return {
    /** The outcome that has not ended. */
    async open(tenant: string, session: string): Promise<OutcomeRow> {
      const row = await db
        .selectFrom('outcomes')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('result', 'in', open)
        .executeTakeFirst()
      if (!row) throw new Error(`session ${session} has no open outcome`)
      return row
    },

    /** Inspections of a session, in the order in which they began. */
    inspections: (tenant: string, session: string) =>
      db
        .selectFrom('outcomes')
        .select(['result', 'explanation'])
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('inspection', 'is not', null)
        .orderBy('id')
        .execute(),

    /** Outcomes by session, each list in the order of definition. */
    async ofSessions(
      tenant: string,
      sessions: readonly string[],
    ): Promise<Map<string, ShownOutcome[]>> {
      const found = new Map<string, ShownOutcome[]>()
      if (sessions.length === 0) return found
      const rows = await db
        .selectFrom('outcomes')
        .select(shownColumns)
        .where('tenant_id', '=', tenant)
        .where('session_id', 'in', sessions)
        .where('inspection', 'is', null)
        .orderBy('id')
        .execute()
      for (const row of rows) found.set(row.session_id, [...(found.get(row.session_id) ?? []), row])
      return found
    },
  }
}

function outcomeWrites(db: Queries) {
  return {
    async insert(row: OutcomeRow): Promise<void> {
      await db.insertInto('outcomes').values(row).execute()
    },

    async update(
      { tenant_id, session_id, id }: OutcomeRow,
      set: Partial<OutcomeRow>,
    ): Promise<void> {
      await db
        .updateTable('outcomes')
        .set(set)
        .where('tenant_id', '=', tenant_id)
        .where('session_id', '=', session_id)
        .where('id', '=', id)
        .execute()
    },

    async remove(tenant: string, session: string): Promise<void> {
      await db
        .deleteFrom('outcomes')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

/** Outcomes of sessions, with the grader's results. */
export const outcomeStore = defineStore(outcomeReads, outcomeWrites)
