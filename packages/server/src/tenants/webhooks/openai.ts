/** Webhook events of `/openai/v1`. They name resources and carry no content. */
import { isNone } from '@steward/protocol/openai/environments.ts'
import type { OpenAIWebhookKind } from '@steward/protocol/webhooks.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

const kindOf: Readonly<Record<string, OpenAIWebhookKind>> = {
  'session.created': 'agent.session.created',
  'session.running': 'agent.session.in_progress',
  'session.idled': 'agent.session.idle',
  'session.requires_action': 'agent.session.action_required',
  'session.status_terminated': 'agent.session.failed',
}

/** The names of these events in `/openai/v1`. There, a session that waits for an action is not idle. */
export function toOpenAIKinds(kinds: readonly string[]): OpenAIWebhookKind[] {
  const isWaiting = kinds.includes('session.requires_action')
  return kinds.flatMap((kind) =>
    isWaiting && kind === 'session.idled' ? [] : (kindOf[kind] ?? []),
  )
}

async function environmentOf(tx: Queries, { tenant, session }: SessionRef) {
  const found = await tx
    .selectFrom('sessions')
    .innerJoin('environments', (join) =>
      join
        .onRef('environments.tenant_id', '=', 'sessions.tenant_id')
        .onRef('environments.id', '=', 'sessions.environment_id'),
    )
    .select(['environments.id', 'environments.record'])
    .where('sessions.tenant_id', '=', tenant)
    .where('sessions.id', '=', session)
    .executeTakeFirst()
  if (!found) return { environment_type: 'none' }
  const record = fromJson(found.record)
  if (isNone(record)) return { environment_type: 'none' }
  const environment_type = record.kind === 'self_hosted' ? 'self_hosted' : 'openai_hosted'
  return { environment_type, environment_id: found.id }
}

/** The kind of the oldest call that waits for a result or an approval. */
async function requiredAction(tx: Queries, { tenant, session }: SessionRef) {
  const call = await tx
    .selectFrom('calls')
    .select('state')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('state', 'in', ['asked', 'waiting'])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  const type = call?.state === 'asked' ? 'mcp_approval_request' : 'function_call'
  return { required_action: { type } }
}

const dataOf = (tx: Queries, kind: OpenAIWebhookKind, ref: SessionRef): Promise<object> =>
  kind === 'agent.session.action_required' ? requiredAction(tx, ref) : environmentOf(tx, ref)

export async function openaiEvent(
  tx: Queries,
  kind: OpenAIWebhookKind,
  ref: SessionRef,
  { id, now }: { id: string; now: number },
): Promise<object> {
  const data = { id: ref.session, ...(await dataOf(tx, kind, ref)) }
  return { id, object: 'event', created_at: Math.floor(now / 1000), type: kind, data }
}
