/** For tests: runs of an agent, in a process whose sessions a test leads to the end of their turns. */
import type { EvalCreate } from '@steward/protocol/evals.ts'
import { EvalCreate as EvalCreateSchema } from '@steward/protocol/evals.ts'
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import type { Database } from '../../ground/database/database.ts'
import { keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../sessions/opening-fixture.ts'
import { createRun } from './create.ts'
import { toEvalCreate } from './tasks.ts'
import type { EvalDeps } from './end-trial.ts'
import type { Ground } from '../../ground/ground.ts'

export const createEvalDeps = (database: Database, parts?: Partial<Ground>): EvalDeps => ({
  ...createOpening(database, parts),
  matches: createShare({ total: 3, percent: 80 }),
})

/** Creates a run of these samples and returns its id. */
export async function newRun(
  database: Database,
  body: Pick<EvalCreate, 'samples'> & Partial<EvalCreate>,
): Promise<string> {
  const { agent, environment } = await agentIn(database)
  const graders = [
    { name: 'calm', type: 'events', expect: [{ type: 'session.error', min: 0, max: 0 }] },
  ]
  const given = { agent, environment_id: environment, graders, ...body }
  const run = await createRun(
    createEvalDeps(database),
    database,
    tenant,
    toEvalCreate(EvalCreateSchema.parse(given)),
  )
  if (run.type !== 'eval') throw new Error('a dry run has no id')
  return run.id
}

const ended = toJson<StopReason>({ type: 'end_turn' })

/** Stands for a runner. A session with work appends the events of the next turn, or ends its turn without an event. */
export function withRunner(database: Database, turns: readonly NewEvent[][] = []): Database {
  const left = [...turns]
  return {
    ...database,
    async write(unit) {
      const result = await database.write(unit)
      const due = await database.read
        .selectFrom('session_heads')
        .select('session_id')
        .where('due', '=', 1)
        .execute()
      for (const { session_id } of due) {
        const events = left.shift()
        const idle = { status: 'idle', stop_reason: ended } as const
        await database.writeStatement((tx) =>
          tx
            .updateTable('session_heads')
            .set(events ? { due: 0 } : { due: 0, ...idle })
            .where('session_id', '=', session_id)
            .execute(),
        )
        if (events) await keepEvents(database, session_id, events)
      }
      return result
    },
  }
}
