/**
 * The keys whose values two dialects of one resource cannot share. The official client always sends
 * `anthropic-version`; whoever does not speaks the interface's own words. [dialects/superset]
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

/** An effort that nobody chose is absent: strict clients know no null there. */
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

/** An agent, or a reference to one, which has no model. That of an advisor is a name in both dialects. */
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

/** Typed clients know text alone; what was written as another value is shown as its JSON. */
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

/** Clients from before the object say so by their beta value. [dialects/skill-source] */
const skill: DialectRule = (shown, dialect, betas) =>
  dialect === 'client' && !betas.has('skills-2025-10-02')
    ? { ...shown, source: { type: shown['source'] } }
    : shown

/** The official client has no word for a version that nobody redacted. */
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

/** A resource in the caller's words, chosen by its `type`; lists are walked. */
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

/** Of a session as it is kept, which is the interface's word. */
type StatusWord = SessionStatus | 'rescheduling'
const statusWords: readonly StatusWord[] = [...sessionStatuses, 'rescheduling']

/**
 * Either vocabulary of a status filter, in the interface's words; what both know means what its dialect shows.
 * Undefined for a word of neither.
 */
export function statusFilter(text: string, dialect: Dialect): StatusWord[] | undefined {
  if (text === 'terminated') return ['done', 'failed']
  const word = statusWords.find((each) => each === text)
  if (word === undefined) return undefined
  if (dialect === 'client') return word === 'idle' ? ['idle', 'pending'] : [word]
  return word === 'running' ? ['running', 'rescheduling'] : [word]
}

/** Kept events that pages and streams show to those alone who ask for them. */
export const hiddenTypes: Record<Dialect, readonly EventType[]> = {
  interface: extensionTypes,
  // No event union of the client knows it.
  client: [...extensionTypes, 'session.status_run_started'],
}

/** The fields of an event's type, as the client knows them. */
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

/** Whether the dialect shows other fields of such an event than are kept. */
export const isTranslated = (type: string, dialect: Dialect): boolean =>
  dialect === 'client' && clientFields[type] !== undefined

/** What an event says, beside `place`; the interface's dialect has it once more under `data`. */
export function eventInDialect<P extends { type: string }>(
  place: P,
  fields: DialectFields,
  dialect: Dialect,
): P & { data?: DialectFields } {
  if (dialect === 'interface') return { ...fields, ...place, data: fields }
  return { ...(clientFields[place.type]?.(fields) ?? fields), ...place }
}
