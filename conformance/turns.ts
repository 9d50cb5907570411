/** Creates sessions, runs turns and reads logs with the official client. */
import assert from 'node:assert/strict'
import type Anthropic from '@anthropic-ai/sdk'
import type { ServiceClients } from './service.ts'

type ClientSessions = Anthropic['beta']['sessions']
export type PostedEvent = Parameters<ClientSessions['events']['send']>[1]['events'][number]
export type SeenEvent = { id: string; type: string; [key: string]: unknown }

let made = 0

/** Returns a name that is unique in this test run. */
export const fresh = (name: string): string => `${name} ${process.pid}-${++made}`

/** Creates a session of a new agent on the offline model, in a new environment. */
export async function newSession(
  service: ServiceClients,
  agent: object = {},
  session: object = {},
): Promise<string> {
  const { beta } = service.client
  const { id } = await beta.agents.create({ name: fresh('agent'), model: 'offline', ...agent })
  const environment = await beta.environments.create({ name: fresh('environment') })
  const whole = { agent: id, environment_id: environment.id, ...session }
  return (await beta.sessions.create(whole)).id
}

export const message = (text: string): PostedEvent => ({
  type: 'user.message',
  content: [{ type: 'text', text }],
})

/** Tools that ask before each call. */
export const asking = [
  {
    type: 'agent_toolset_20260401' as const,
    default_config: { permission_policy: { type: 'always_ask' as const } },
  },
]

/** A custom tool, which the client answers. */
export const custom = {
  type: 'custom',
  name: 'look_up',
  description: 'looks something up',
  input_schema: { type: 'object', properties: { what: { type: 'string' } } },
} as const

export const result = (id: string, text: string): PostedEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: id,
  content: [{ type: 'text', text }],
})

export const post = (
  service: Pick<ServiceClients, 'client'>,
  session: string,
  ...events: (string | PostedEvent)[]
) =>
  service.client.beta.sessions.events.send(session, {
    events: events.map((event) => (typeof event === 'string' ? message(event) : event)),
  })

/**
 * Posts events and waits for the next `session.status_idle`. Returns the stored events up to it, as the stream shows
 * them.
 */
export async function turn(
  service: Pick<ServiceClients, 'client'>,
  session: string,
  ...posted: (string | PostedEvent)[]
): Promise<SeenEvent[]> {
  const stream = await service.client.beta.sessions.events.stream(session)
  await post(service, session, ...posted)
  const seen: SeenEvent[] = []
  for await (const each of stream) {
    const shown = { ...each } as SeenEvent
    // A queued message has no number in the log yet.
    if (shown['seq'] !== null) seen.push(shown)
    if (shown.type === 'session.status_idle') break
  }
  return seen
}

/** Returns all events of the log's default view. */
export async function say(service: ServiceClients, session: string): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = []
  const { events } = service.client.beta.sessions
  for await (const each of events.list(session, { limit: 1000 }))
    seen.push({ ...each } as SeenEvent)
  return seen
}

/** Returns all stored events, with extension events. */
export const logOf = async (service: ServiceClients, session: string): Promise<SeenEvent[]> =>
  (await service.ask<SeenEvent[]>('GET', `/v1/sessions/${session}/log`)).body

export const types = (events: readonly { type: string }[]): string[] =>
  events.map(({ type }) => type)

export function only(events: readonly SeenEvent[], type: string): SeenEvent {
  const found = events.filter((event) => event.type === type)
  assert.equal(found.length, 1, `one ${type} among ${types(events).join(', ')}`)
  return found[0] as SeenEvent
}

export const all = (events: readonly SeenEvent[], type: string): SeenEvent[] =>
  events.filter((event) => event.type === type)

/** The text of a message or result. */
export const textOf = (event: SeenEvent): string =>
  (event['content'] as { text?: string }[]).map(({ text }) => text ?? '').join('')

export function idleOf(events: readonly SeenEvent[]): { stop_reason: unknown } {
  const last = events.at(-1)
  assert.equal(last?.type, 'session.status_idle')
  return { stop_reason: last?.['stop_reason'] }
}
