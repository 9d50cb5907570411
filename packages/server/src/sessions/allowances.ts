/** Allows tools for one session, and takes that back. A change counts from the next turn on. [sessions/allowances/allow] */
import { iso } from '@steward/base/time.ts'
import type { Allowance } from '@steward/protocol/allowances.ts'
import { auditChange, openCall } from '../ground/core/security/audited-call.ts'
import { invalid, notFound } from '../ground/core/errors.ts'
import { newId } from '../ground/core/text/ids.ts'
import { toJson } from '../ground/core/text/json-text.ts'
import type { Queries } from '../ground/database/database.ts'
import { appendEntries } from './log/append.ts'
import { getHeadForUpdate } from './log/head.ts'
import { idleAgain } from './log/idle.ts'
import { allowancesOf } from './rows/allowances.ts'
import type { SessionRow } from './rows/sessions.ts'
import { sessionStore } from './rows/sessions.ts'

const mostAllowed = 100

/** Allows a tool. One that is allowed already stays as it is. */
export async function allowTool(
  tx: Queries,
  { tenant, session, tool }: { tenant: string; session: string; tool: string },
  now: number,
): Promise<Allowance> {
  const row = await sessionStore(tx).getOpenForUpdate(tenant, session)
  const before = allowancesOf(row)
  const known = before.find((each) => each.tool === tool)
  if (known) return known
  if (before.length >= mostAllowed)
    throw invalid(`tool: a session allows ${mostAllowed} tools at most: take one back first`)
  const { type, id, name } = openCall()?.call.actor ?? { type: 'anonymous', id: null, name: null }
  const made: Allowance = {
    type: 'allowance',
    tool,
    created_by: { type, id, name },
    created_at: iso(now),
  }
  await keep(tx, row, [...before, made], now)
  auditChange({ type: 'allowance', id: tool, parent: session, before: null, after: { tool } })
  return made
}

/** Takes an allowance back. Throws not_found for a tool that is not allowed. */
export async function takeBackTool(
  tx: Queries,
  { tenant, session, tool }: { tenant: string; session: string; tool: string },
  now: number,
): Promise<void> {
  const row = await sessionStore(tx).getOpenForUpdate(tenant, session)
  const before = allowancesOf(row)
  const left = before.filter((each) => each.tool !== tool)
  if (left.length === before.length) throw notFound('allowance', tool)
  await keep(tx, row, left, now)
  auditChange({ type: 'allowance', id: tool, parent: session, before: { tool }, after: null })
}

async function keep(tx: Queries, row: SessionRow, allowances: Allowance[], now: number) {
  const { tenant_id: tenant, id: session } = row
  const head = await getHeadForUpdate(tx, tenant, session)
  await sessionStore(tx).update(tenant, session, { allowances: toJson(allowances) }, now)
  const tools = allowances.map(({ tool }) => tool)
  const type = 'session.allowances_changed' as const
  const entries = [{ event: { id: newId('event'), type, tools } }, ...idleAgain(head, now)]
  await appendEntries(tx, tenant, session, entries, { now })
}
