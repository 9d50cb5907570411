/** A message while it is written, accumulated from its deltas, and the same message when it is complete. */
import type Anthropic from '@anthropic-ai/sdk'
import type { AccumulatedEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate'
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate'
import { message, model } from './turn.ts'

const textOf = ({ content }: AccumulatedEvent): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

export async function streamingDeltas(client: Anthropic) {
  const { beta } = client
  const environment = await beta.environments.create({ name: 'streaming-environment' })
  const agent = await beta.agents.create({ name: 'Writer', model })
  const session = await beta.sessions.create({ environment_id: environment.id, agent: agent.id })
  const stream = await beta.sessions.events.stream(session.id, { event_deltas: ['agent.message'] })
  // Long enough for several deltas.
  const text = Array.from({ length: 5_000 }, (_, n) => `word ${n}`).join(', ')
  const events = message(`say: ${text}`)
  await beta.sessions.events.send(session.id, { events })
  const written: string[] = []
  let open: AccumulatedEvent | undefined
  let whole = ''
  for await (const event of stream) {
    open = accumulateManagedAgentsEvent(open, event)
    if (event.type === 'event_delta' && open) written.push(textOf(open))
    if (event.type === 'agent.message') whole = textOf(event)
    if (event.type === 'session.status_idle') break
  }
  await beta.sessions.archive(session.id)
  await beta.agents.archive(agent.id)
  await beta.environments.archive(environment.id)
  return { text, written, whole }
}
