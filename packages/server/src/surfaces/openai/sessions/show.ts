/** Shows sessions on `/openai/v1`. A row that several sessions need is read once. */
import type { OpenAIRequiredAction, OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { parseObject } from '@steward/base/json-object.ts'
import { notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { rows } from '../../../ground/database/rows.ts'
import { fileStore } from '../../../resources/files/store.ts'
import { openCalls } from '../../../sessions/log/calls.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf, readAt } from '../../../sessions/log/log.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { showSessionAgent } from '../agents/agent.ts'
import { readSkillWords } from '../environments/skill-words.ts'
import { unixSeconds } from '../page.ts'
import { childThreadId } from './subagent-events.ts'
import { showEnvironment } from './environment.ts'
import { serverLabelOf } from '../turns/item.ts'
import { showUsage } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'
import { turnAt, turnsAround } from '../turns/turns.ts'

export async function showSessions(
  read: Reads,
  tenant: string,
  sessions: readonly Session[],
): Promise<OpenAISession[]> {
  if (sessions.length === 0) return []
  const skills = sessions.flatMap(({ agent }) => agent.skills)
  const [heads, environments, sizes, skillWords] = await Promise.all([
    headsOf(read, tenant, sessions),
    environmentsOf(read, tenant, sessions),
    sizesOf(read, tenant, sessions),
    readSkillWords(read, tenant, skills),
  ])
  const shown: OpenAISession[] = []
  for (const session of sessions) {
    const head = heads.get(session.id)
    if (!head) continue
    const record = environments.get(session.environment_id) ?? goneEnvironment
    const status = statusOf(session, head)
    const isWaiting = status === 'requires_action'
    shown.push({
      id: session.id,
      object: 'agent.session',
      status,
      agent: showSessionAgent(session.agent),
      environment: showEnvironment(record, session, { sizes, skillWords }),
      required_actions: isWaiting ? await requiredActions(logOf(read, tenant, session)) : [],
      error: status === 'failed' ? 'The session was archived.' : null,
      usage: head.model_requests === 0 ? null : showUsage(session.usage),
      vault_ids: session.vault_ids,
      metadata: session.metadata,
      review: 'none',
      ...spendingOf(session),
      created_at: unixSeconds(session.created_at),
      last_active_at: lastActive(session, head),
    })
  }
  return shown
}

export async function showSession(
  read: Reads,
  tenant: string,
  id: string,
  now: number,
): Promise<OpenAISession> {
  const [shown] = await showSessions(read, tenant, [await sessionStore(read).get(tenant, id, now)])
  if (!shown) throw notFound('session', id)
  return shown
}

/** Stands for the environment of an archived session, because that environment may be deleted. */
const goneEnvironment: EnvironmentRecord = { ...emptyEnvironment, name: '' }

type ShownHead = {
  session_id: string
  stop_reason: string | null
  model_requests: number
  idle_since_ms: number | null
}

async function headsOf(read: Reads, tenant: string, sessions: readonly Session[]) {
  const found = await read
    .selectFrom('session_heads')
    .select(['session_id', 'stop_reason', 'model_requests', 'idle_since_ms'])
    .where('tenant_id', '=', tenant)
    .where(
      'session_id',
      'in',
      sessions.map(({ id }) => id),
    )
    .execute()
  return new Map(found.map((head): [string, ShownHead] => [head.session_id, head]))
}

async function environmentsOf(read: Reads, tenant: string, sessions: readonly Session[]) {
  const ids = [...new Set(sessions.map(({ environment_id }) => environment_id))]
  const found = await rows(read, 'environments').all(tenant, (query) =>
    query.where('id', 'in', ids),
  )
  return new Map(found.map(({ id, record }) => [id, record]))
}

async function sizesOf(read: Reads, tenant: string, sessions: readonly Session[]) {
  const ids = sessions.flatMap(({ resources }) =>
    resources.flatMap((resource) => (resource.type === 'file' ? resource.file_id : [])),
  )
  if (ids.length === 0) return new Map<string, number>()
  const found = await fileStore(read).named(tenant, [...new Set(ids)])
  return new Map(found.map(({ id, size_bytes }) => [id, size_bytes]))
}

function statusOf(session: Session, { stop_reason }: ShownHead): OpenAISession['status'] {
  switch (session.status) {
    case 'running':
    case 'rescheduling':
      return 'in_progress'
    case 'done':
    case 'failed':
      return 'failed'
    case 'pending':
      return 'idle'
    case 'idle': {
      const type = stop_reason === null ? undefined : parseObject(stop_reason)['type']
      return type === 'requires_action' ? 'requires_action' : 'idle'
    }
    default:
      return session.status satisfies never
  }
}

function spendingOf({ budget, usage }: Session): Pick<OpenAISession, 'spend_control'> {
  if (!budget) return {}
  const consumed = usage.list_cost === null ? null : Number(usage.list_cost.amount)
  return { spend_control: { limit: Number(budget.max_list_cost.amount), consumed } }
}

const lastActive = ({ updated_at }: Session, { idle_since_ms }: ShownHead): number =>
  Math.max(unixSeconds(updated_at), Math.floor((idle_since_ms ?? 0) / 1000))

/** The calls that wait for a result or an approval, in call order. */
export async function requiredActions(log: SessionLog): Promise<OpenAIRequiredAction[]> {
  const { read, tenant, session } = log
  const calls = (await openCalls(read, tenant, session)).filter(
    ({ state }) => state === 'asked' || state === 'waiting',
  )
  if (calls.length === 0) return []
  const seqs = calls.map(({ seq }) => seq)
  const events = await readAt(read, tenant, session, seqs)
  const turns = await turnIdsOf(log, events)
  return events.flatMap((row): OpenAIRequiredAction[] => {
    const event = eventOf(row)
    const turn_id = turns.get(row.id) ?? ''
    if (event.type === 'agent.custom_tool_use') {
      const { id: call_id, name, input } = event
      return [
        { type: 'function_call', call_id, turn_id, name, arguments: input as ActionArguments },
      ]
    }
    if (event.type !== 'agent.mcp_tool_use' && event.type !== 'agent.tool_use') return []
    const isOfServer = event.type === 'agent.mcp_tool_use'
    const name = isOfServer ? event.mcp_tool_name : event.name
    return [
      {
        type: 'mcp_approval_request',
        request_id: event.id,
        turn_id,
        request: {
          type: 'mcp_tool_call',
          server_label: isOfServer ? event.mcp_server_name : serverLabelOf(name),
          name,
          arguments: event.input as ActionArguments,
          message: `The agent wants to call ${name}.`,
        },
      },
    ]
  })
}

/** The ids of the turns that these events belong to: turns of the session, or of the subagent that made the call. */
async function turnIdsOf(log: SessionLog, events: readonly EventRow[]) {
  const byThread = Map.groupBy(events, (row) => childThreadId(log, row) ?? null)
  const ids = new Map<string, string | undefined>()
  for (const [thread, rows] of byThread) {
    const seqs = rows.map(({ seq }) => seq)
    const turns = await turnsAround({ ...log, thread }, Math.min(...seqs), Math.max(...seqs))
    for (const { id, seq } of rows) ids.set(id, turnAt(turns, seq)?.id)
  }
  return ids
}

const logOf = (read: Reads, tenant: string, { id, agent }: Session): SessionLog => ({
  read,
  tenant,
  session: id,
  agent: agent.id,
  thread: null,
})

type ActionArguments = Extract<OpenAIRequiredAction, { type: 'function_call' }>['arguments']
