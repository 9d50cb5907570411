/** A command that waits for a person. This program approves it; a real one asks somebody, or the console does. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })
const { events } = client.beta.sessions

const agent = await client.beta.agents.create({
  name: 'Careful agent',
  model: MODEL,
  tools: [
    {
      type: 'agent_toolset_20260401',
      default_config: { enabled: true, permission_policy: { type: 'always_ask' } },
    },
  ],
})
const environment = await client.beta.environments.create({ name: `approvals ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
})

const stream = await events.stream(session.id)
await events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'run: echo deployed' }] }],
})
for await (const event of stream) {
  if (event.type === 'agent.tool_use')
    console.log('The agent wants to use', event.name, event.input)
  if (event.type === 'agent.tool_result')
    console.log('The tool answered', JSON.stringify(event.content))
  if (event.type !== 'session.status_idle') continue
  if (event.stop_reason.type !== 'requires_action') break
  for (const id of event.stop_reason.event_ids) {
    console.log('Approving', id)
    await events.send(session.id, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' }],
    })
  }
}
