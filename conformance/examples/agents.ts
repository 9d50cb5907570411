/** Creates an environment, an agent and a session, and prints the answer of the agent. */
import type Anthropic from '@anthropic-ai/sdk'
import type { Event } from './turn.ts'
import { answerOf, message, model, turn } from './turn.ts'

export async function agents(client: Anthropic): Promise<{ answer: string; status: string }> {
  const { beta } = client
  const environment = await beta.environments.create({ name: 'simple-environment' })
  const agent = await beta.agents.create({ name: 'Simple agent', model })
  const session = await beta.sessions.create({
    environment_id: environment.id,
    agent: { type: 'agent', id: agent.id, version: agent.version },
  })
  const events: Event[] = []
  for await (const event of turn(client, session.id, message('say: Hello there')))
    events.push(event)
  const archived = await beta.sessions.archive(session.id)
  await beta.agents.archive(agent.id)
  await beta.environments.archive(environment.id)
  return { answer: answerOf(events), status: archived.status }
}
