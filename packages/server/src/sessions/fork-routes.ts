import { SessionFork } from '@steward/protocol/forks.ts'
import { SessionShown } from '@steward/protocol/sessions.ts'
import { recordBody } from '../ground/http/limits.ts'
import type { Route } from '../ground/http/route.ts'
import { section } from '../ground/http/section.ts'
import { checkBudget, checkSpeed, modelsOf } from './create.ts'
import { forkSession } from './fork.ts'
import { readHead } from './log/head.ts'
import type { Opening } from './open.ts'
import { sessionStore } from './rows/sessions.ts'
import { notifyPollers } from './work/topics.ts'

const forks = section('Sessions', ['workspace'], '/v1/ext/sessions/:id/fork')

export function forkRoutes({
  bus,
  clock,
  seal,
  resolveModel,
  limits,
  ...deps
}: Omit<Opening, 'keeping' | 'deploymentId'>): Route[] {
  return [
    forks.post(
      '',
      {
        summary: 'Fork a session',
        description: 'Makes a session with the history of this one up to an event.',
        body: SessionFork,
        limits: recordBody,
        counted: 'sessions',
        answer: SessionShown,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const { agent } = body
        if (agent !== undefined) {
          await sessionStore(db.read).row(tenant, id)
          const models = await modelsOf(db.read, tenant, agent)
          await checkSpeed({ resolveModel, tenant, models })
          const { budget } = await readHead(db.read, tenant, id)
          if (budget !== null) await checkBudget({ resolveModel, tenant, models })
        }
        const { session, queue } = await forkSession(db, tenant, id, body, {
          ...deps,
          seal,
          now: () => clock.now(),
          count: await limits.quotas.daily(tenant),
        })
        if (queue !== undefined) notifyPollers(bus, { environment: queue })
        return session
      },
    ),
  ]
}
