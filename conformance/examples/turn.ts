/** Posts a message and follows its turn to the end, for all programs of this folder. */
import type Anthropic from '@anthropic-ai/sdk'
import type { BetaManagedAgentsStreamSessionEvents as Event } from '@anthropic-ai/sdk/resources/beta/sessions/events'

/** A model that needs no key of a provider and does what the message says. */
export const model = 'offline'

export const toolset = {
  type: 'agent_toolset_20260401',
  default_config: { enabled: true, permission_policy: { type: 'always_allow' } },
} as const

type IdleEvent = Extract<Event, { type: 'session.status_idle' }>
type PostedEvents = Parameters<Anthropic['beta']['sessions']['events']['send']>[1]['events']

export const message = (text: string): PostedEvents => [
  { type: 'user.message', content: [{ type: 'text', text }] },
]

/** Opens the stream before it posts, so that it misses no event. Ends after the idle event that `isLast` accepts. */
export async function* turn(
  client: Anthropic,
  session: string,
  events: PostedEvents,
  isLast: (idle: IdleEvent) => boolean = () => true,
) {
  const stream = await client.beta.sessions.events.stream(session)
  await client.beta.sessions.events.send(session, { events })
  for await (const event of stream) {
    yield event
    if (event.type === 'session.status_idle' && isLast(event)) return
  }
}

/** Returns the text of all messages of the agent. */
export function answerOf(events: readonly Event[]): string {
  const blocks = events.flatMap((event) => (event.type === 'agent.message' ? event.content : []))
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

export type { Event }
