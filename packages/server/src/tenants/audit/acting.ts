/** Lines of what acts without a person, such as a schedule, and the person behind it. */
import { parseObject } from '@steward/base/json-object.ts'
import { z } from 'zod'
import type {
  ActingThing,
  AuditActor,
  AuditFields,
} from '../../ground/core/security/audited-call.ts'
import { jobCall, openCall } from '../../ground/core/security/audited-call.ts'
import { buildAuditLine } from '../../ground/database/audited-database.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { insertRows } from '../../ground/database/statement.ts'

/** Who did something, and the person or key on whose behalf. */
export type Origin = { actor: AuditActor; on_behalf_of: AuditActor | null }

const people = ['user', 'subject', 'api_key', 'operator']
/** True for whom a change may be made on behalf of: no schedule, and nothing else that acts by itself. */
export const isPerson = ({ type }: { type: string }): boolean => people.includes(type)
/** A longer value of a line stands as its digest. */
const longestName = 100

const Actor = z.object({
  type: z.string(),
  id: z.string().nullable(),
  name: z.string().nullable(),
})

type ActingChange = {
  thing: ActingThing
  action:
    | 'session.create'
    | 'session.post'
    | 'session.wakeup'
    | 'deployment.create'
    | 'deployment.update'
    | 'deployment.archive'
  session: string
  /** What the line is about, where that is not the session. */
  resource?: { type: string; id: string }
  after?: AuditFields
}

/** Writes the line within the unit of the change. */
export async function auditActing(
  tx: Queries,
  tenant: string,
  { thing, action, session, resource = { type: 'session', id: session }, after = {} }: ActingChange,
  now: number,
): Promise<void> {
  const call = openCall()?.call
  const on_behalf_of =
    call && isPerson(call.actor) ? named(call.actor) : await personBehind(tx, tenant, thing)
  const change = {
    ...resource,
    action,
    actor: named(thing),
    before: null,
    after: { ...after, on_behalf_of },
    workspace: tenant,
  }
  await insertRows(tx, 'audit_lines', [buildAuditLine(call ?? jobCall(action), change, now)])
}

const named = ({ type, id, name }: AuditActor): AuditActor => ({
  type,
  id,
  name: name?.slice(0, longestName).toWellFormed() ?? null,
})

/** Who has made or changed the thing last, as far as the audit goes back. */
async function personBehind(
  db: Reads,
  tenant: string,
  thing: ActingThing,
): Promise<AuditActor | null> {
  if (thing.type === 'session') {
    const origin = (await findOrigins(db, tenant, [thing.id])).get(thing.id)
    return origin && isPerson(origin.actor) ? origin.actor : (origin?.on_behalf_of ?? null)
  }
  const line = await db
    .selectFrom('audit_lines')
    .select(['actor_type', 'actor_id', 'actor_name'])
    .where('tenant_id', '=', tenant)
    .where('resource_id', '=', thing.id)
    .where('actor_type', 'in', people)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return line ? actorOf(line) : behindAgent(db, tenant, thing)
}

/** The person behind the session whose agent has made the thing. */
async function behindAgent(
  db: Reads,
  tenant: string,
  { id }: ActingThing,
): Promise<AuditActor | null> {
  const line = await db
    .selectFrom('audit_lines')
    .select('actor_id')
    .where('tenant_id', '=', tenant)
    .where('resource_id', '=', id)
    .where('actor_type', '=', 'session')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!line?.actor_id) return null
  return personBehind(db, tenant, { type: 'session', id: line.actor_id, name: null })
}

const actorOf = (line: {
  actor_type: string
  actor_id: string | null
  actor_name: string | null
}): AuditActor => ({ type: line.actor_type, id: line.actor_id, name: line.actor_name })

/** Who has made these sessions, by session, as far as the audit goes back. */
export async function findOrigins(
  db: Reads,
  tenant: string,
  sessions: readonly string[],
): Promise<Map<string, Origin>> {
  const found = new Map<string, Origin>()
  if (sessions.length === 0) return found
  const lines = await db
    .selectFrom('audit_lines')
    .select(['resource_id', 'actor_type', 'actor_id', 'actor_name', 'after_fields'])
    .where('tenant_id', '=', tenant)
    .where('resource_id', 'in', [...new Set(sessions)])
    .where('action', '=', 'session.create')
    .execute()
  for (const line of lines) {
    const after = line.after_fields === null ? {} : parseObject(line.after_fields)
    const behind = Actor.safeParse(after['on_behalf_of'])
    const on_behalf_of = behind.success ? behind.data : null
    if (line.resource_id !== null)
      found.set(line.resource_id, { actor: actorOf(line), on_behalf_of })
  }
  return found
}
