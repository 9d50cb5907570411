/** A session, a turn, and what the log says of it, by the official client. */
import type Anthropic from '@anthropic-ai/sdk'
import type { Service } from './service.ts'

type Sessions = Anthropic['beta']['sessions']
export type Posted = Parameters<Sessions['events']['send']>[1]['events'][number]
export type Seen = { id: string; type: string; [key: string]: unknown }

let made = 0

/** A new session of a new agent on the offline model, in an environment of its own. */
export async function newSession(service: Service, agent: object = {}): Promise<string> {
  const { beta } = service.client
  made += 1
  const { id } = await beta.agents.create({ name: `agent ${made}`, model: 'offline', ...agent })
  const environment = await beta.environments.create({ name: `environment ${made} ${process.hrtime.bigint()}` })
  return (await beta.sessions.create({ agent: id, environment_id: environment.id })).id
}

/** Posts and waits for the next idle; gives the events from the post to that idle, as the stream showed them. */
export async function turn(service: Service, session: string, posted: string | Posted): Promise<Seen[]> {
  const { events } = service.client.beta.sessions
  const stream = await events.stream(session)
  const event: Posted =
    typeof posted === 'string' ? { type: 'user.message', content: [{ type: 'text', text: posted }] } : posted
  await events.send(session, { events: [event] })
  const seen: Seen[] = []
  for await (const each of stream) {
    const shown = { ...each } as Seen
    // The queued form of a message has no place in the log yet.
    if (shown['seq'] !== null) seen.push(shown)
    if (shown.type === 'session.status_idle') break
  }
  return seen
}

/** Everything the log's default view has. */
export async function say(service: Service, session: string): Promise<Seen[]> {
  const seen: Seen[] = []
  for await (const each of service.client.beta.sessions.events.list(session, { limit: 1000 })) seen.push({ ...each } as Seen)
  return seen
}

export function idleOf(events: Seen[]): { stop_reason: unknown } {
  const last = events.at(-1)
  if (last?.type !== 'session.status_idle') throw new Error(`the last event is ${last?.type}, not an idle`)
  return { stop_reason: last['stop_reason'] }
}
