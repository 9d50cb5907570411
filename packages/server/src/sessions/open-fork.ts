/** Forks a session, after the checks of a new session with another agent. */
import type { SessionFork } from '@steward/protocol/forks.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import type { Database } from '../ground/database/database.ts'
import { checkBudget, checkSpeed, resolveSessionModels } from './create.ts'
import type { ForkFinish } from './fork.ts'
import { forkSession } from './fork.ts'
import { readHead } from './log/head.ts'
import type { OpenSessionDeps } from './open.ts'
import { sessionStore } from './rows/sessions.ts'

export async function openFork(
  deps: OpenSessionDeps,
  { db, tenant }: { db: Database; tenant: string },
  from: string,
  input: SessionFork,
  also?: ForkFinish,
): Promise<Session> {
  const { resolveModel, limits } = deps
  const { agent } = input
  if (agent !== undefined) {
    await sessionStore(db.read).row(tenant, from)
    const models = await resolveSessionModels(db.read, tenant, agent)
    await checkSpeed({ resolveModel, tenant, models })
    const { budget } = await readHead(db.read, tenant, from)
    if (budget !== null) await checkBudget({ resolveModel, tenant, models })
  }
  return forkSession(db, tenant, from, input, {
    ...deps,
    count: await limits.quotas.daily(tenant),
    also,
  })
}
