/** The start of both worker programs: a self-hosted environment, its key, and a session with work. */
import type Anthropic from '@anthropic-ai/sdk'
import { answerOf, message, model, toolset, turn } from './turn.ts'

export async function selfHosted(client: Anthropic, name: string) {
  const { beta } = client
  const environment = await beta.environments.create({ name, config: { type: 'self_hosted' } })
  // The official client has no call for environment keys, so the program posts directly.
  const body = { name, environment_id: environment.id }
  const made = await client.post<{ id: string; key: string }>('/v1/ext/api_keys', { body })
  const agent = await beta.agents.create({ name: 'Worker', model, tools: [toolset] })
  const session = await beta.sessions.create({ environment_id: environment.id, agent: agent.id })
  return {
    ...{ environment: environment.id, key: made.key, session: session.id },
    /** The session also becomes idle between its tool calls, while the worker runs them. */
    async ask(text: string): Promise<string> {
      const events = turn(
        client,
        session.id,
        message(text),
        ({ stop_reason }) => stop_reason.type === 'end_turn',
      )
      return answerOf(await Array.fromAsync(events))
    },
    async leave(): Promise<void> {
      await beta.sessions.archive(session.id)
      await client.delete(`/v1/ext/api_keys/${made.id}`)
      await beta.agents.archive(agent.id)
      await beta.environments.archive(environment.id)
    },
  }
}
