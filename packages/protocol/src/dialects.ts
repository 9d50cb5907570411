/**
 * The keys whose values two dialects of one resource cannot share. The official client always sends
 * `anthropic-version`; a request without this header gets the interface's own words. [dialects/superset]
 */
import type { EventType } from './events.ts'
import { extensionTypes } from './events.ts'
import type { MultiagentOf } from './multiagent.ts'
import { membersOf, withMembers } from './multiagent.ts'
import type { SessionStatus } from './sessions.ts'
import { sessionStatuses } from './sessions.ts'

export type Dialect = 'client' | 'interface'

const clientStatus: Record<string, string> = {
  pending: 'idle',
  done: 'terminated',
  failed: 'terminated',
}

type ShownObject = Record<string, unknown> & { type?: unknown }
/** `betas` are values of the request's beta header. */
type DialectRule = (shown: ShownObject, dialect: Dialect, betas: ReadonlySet<string>) => ShownObject

type ModelShown = { effort?: object | null; speed?: string | null }

/** Leaves out an effort of null: strict clients accept no null there. */
const withoutNull = ({ effort, ...model }: ModelShown): ModelShown =>
  effort ? { ...model, effort } : model

const modelObject = (model: unknown) => {
  const object = withoutNull(typeof model === 'string' ? { id: model } : (model as object))
  return { ...object, speed: object.speed ?? 'standard' }
}

const agent: DialectRule = (shown, dialect) => {
  const whole = threadAgent(shown, dialect)
  const multiagent = whole['multiagent'] as MultiagentOf<ShownObject> | null | undefined
  const together = multiagent ? { ...whole, multiagent: multiagentIn(multiagent, dialect) } : whole
  return dialect === 'client' ? textMetadata(together) : together
}

/**
 * Translates the model of an agent. A reference to an agent has no model, and the model of an advisor is a name in both
 * dialects.
 */
function threadAgent(shown: ShownObject, dialect: Dialect): ShownObject {
  const { model } = shown
  if (model === undefined || shown.type === 'advisor') return shown
  if (dialect === 'client') return { ...shown, model: modelObject(model) }
  return typeof model === 'object' && model !== null
    ? { ...shown, model: withoutNull(model) }
    : shown
}

const multiagentIn = (multiagent: MultiagentOf<ShownObject>, dialect: Dialect) =>
  withMembers(
    multiagent,
    membersOf(multiagent).map((member) => threadAgent(member, dialect)),
  )

/** Shows a value of metadata that is no string as its JSON: clients with types accept only strings. */
function textMetadata(shown: ShownObject): ShownObject {
  const { metadata } = shown
  if (typeof metadata !== 'object' || metadata === null) return shown
  const values = Object.entries(metadata)
  if (values.every(([, value]) => typeof value === 'string')) return shown
  const asText = ([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]
  return { ...shown, metadata: Object.fromEntries(values.map(asText)) }
}

const session: DialectRule = (shown, dialect, betas) => {
  const status = String(shown['status'])
  const whole = { ...shown, agent: agent(shown['agent'] as ShownObject, dialect, betas) }
  if (dialect === 'interface')
    return status === 'rescheduling' ? { ...whole, status: 'running' } : whole
  return {
    ...whole,
    status: shown['archived_at'] ? 'terminated' : (clientStatus[status] ?? status),
  }
}

/** A client that is older than the object form of `source` sends this beta value. [dialects/skill-source] */
const skill: DialectRule = (shown, dialect, betas) =>
  dialect === 'client' && !betas.has('skills-2025-10-02')
    ? { ...shown, source: { type: shown['source'] } }
    : shown

/** The official client expects no `redacted_by` on a version that nobody redacted. */
const memoryVersion: DialectRule = (shown, dialect) => {
  const { redacted_by, ...rest } = shown
  return dialect === 'client' && redacted_by === null ? rest : shown
}

const rules: Record<string, DialectRule> = {
  agent,
  session,
  session_thread: session,
  skill,
  memory_version: memoryVersion,
}

const none: ReadonlySet<string> = new Set()

/** Translates a resource into the caller's dialect, by its `type`. A list is translated item by item. */
export function inDialect<T>(body: T, dialect: Dialect, betas = none): T {
  if (typeof body !== 'object' || body === null) return body
  const shown = body as ShownObject & { data?: unknown }
  if (typeof shown.type === 'string')
    return (rules[shown.type]?.(shown, dialect, betas) ?? shown) as T
  if (Array.isArray(shown.data)) {
    return { ...body, data: shown.data.map((item: unknown) => inDialect(item, dialect, betas)) }
  }
  return body
}

/** The status of a session as the database has it, in the interface's words. */
type StatusWord = SessionStatus | 'rescheduling'
const statusWords: readonly StatusWord[] = [...sessionStatuses, 'rescheduling']

/**
 * Translates a status filter of either dialect into the interface's words. A word that both dialects know has the
 * meaning of the caller's dialect. Returns undefined for an unknown word.
 */
export function statusFilter(text: string, dialect: Dialect): StatusWord[] | undefined {
  if (text === 'terminated') return ['done', 'failed']
  const word = statusWords.find((each) => each === text)
  if (word === undefined) return undefined
  if (dialect === 'client') return word === 'idle' ? ['idle', 'pending'] : [word]
  return word === 'running' ? ['running', 'rescheduling'] : [word]
}

/** Stored events that pages and streams show only on request. */
export const hiddenTypes: Record<Dialect, readonly EventType[]> = {
  interface: extensionTypes,
  // The client's union of events does not have this type.
  client: [...extensionTypes, 'session.status_run_started'],
}

/** The fields of events that the client knows by other names or in other forms. */
const clientFields: Partial<Record<string, (fields: DialectFields) => DialectFields>> = {
  'agent.mcp_tool_use': (fields) => ({
    ...fields,
    name: fields['mcp_tool_name'] ?? fields['name'],
  }),
  'session.updated': (fields) =>
    fields['agent']
      ? { ...fields, agent: agent(fields['agent'] as ShownObject, 'client', none) }
      : fields,
}
type DialectFields = Record<string, unknown>

/** Returns true when the dialect shows an event of this type with other fields than the stored ones. */
export const isTranslated = (type: string, dialect: Dialect): boolean =>
  dialect === 'client' && clientFields[type] !== undefined

/**
 * An event on the wire: `head` and the fields of the type. The interface's dialect repeats the fields under `data`.
 */
export function eventInDialect<P extends { type: string }>(
  head: P,
  fields: DialectFields,
  dialect: Dialect,
): P & { data?: DialectFields } {
  if (dialect === 'interface') return { ...fields, ...head, data: fields }
  return { ...(clientFields[head.type]?.(fields) ?? fields), ...head }
}
