import { AllowanceCreate, AllowanceShown } from '@steward/protocol/allowances.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { wholePage } from '../ground/core/text/page.ts'
import { recordBody } from '../ground/http/limits.ts'
import { emptyReply } from '../ground/http/reply.ts'
import type { Route } from '../ground/http/route.ts'
import { section } from '../ground/http/section.ts'
import type { Ground } from '../ground/ground.ts'
import { allowTool, takeBackTool } from './allowances.ts'
import { allowancesOf } from './rows/allowances.ts'
import { sessionStore } from './rows/sessions.ts'

const allowances = section('Sessions', ['workspace'], '/v1/ext/sessions/:id/allowances')

export const allowanceRoutes = ({ clock }: Ground): Route[] => [
  allowances.get(
    '',
    {
      summary: 'List allowed tools',
      description: 'Tools that the session uses without asking, although its agent asks first.',
      answer: ListOf(AllowanceShown),
    },
    async ({ db, tenant, params: { id } }) =>
      wholePage(allowancesOf(await sessionStore(db.read).row(tenant, id))),
  ),
  allowances.post(
    '',
    {
      summary: 'Allow a tool for a session',
      description: 'From the next turn on its calls run without asking.',
      body: AllowanceCreate,
      limits: recordBody,
      answer: AllowanceShown,
    },
    ({ db, tenant, params: { id: session }, body: { tool } }) =>
      db.write((tx) => allowTool(tx, { tenant, session, tool }, clock.now())),
  ),
  allowances.delete(
    '/:tool',
    {
      summary: 'Take an allowance back',
      description: 'From the next turn on the tool asks again.',
      answer: 'none',
      status: 204,
    },
    async ({ db, tenant, params: { id: session, tool } }) => {
      await db.write((tx) => takeBackTool(tx, { tenant, session, tool }, clock.now()))
      return emptyReply(204)
    },
  ),
]
