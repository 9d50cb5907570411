import { SessionFork } from '@steward/protocol/forks.ts'
import { SessionShown } from '@steward/protocol/sessions.ts'
import { recordBody } from '../ground/http/limits.ts'
import type { Route } from '../ground/http/route.ts'
import { section } from '../ground/http/section.ts'
import { openFork } from './open-fork.ts'
import type { OpenSessionDeps } from './open.ts'

const forks = section('Sessions', ['workspace'], '/v1/ext/sessions/:id/fork')

export const forkRoutes = (deps: OpenSessionDeps): Route[] => [
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
    ({ db, tenant, params: { id }, body }) => openFork(deps, { db, tenant }, id, body),
  ),
]
