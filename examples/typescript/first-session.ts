/** One agent, one environment, one session, one turn. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })

const agent = await client.beta.agents.create({
  name: 'First agent',
  model: MODEL,
  tools: [{ type: 'agent_toolset_20260401' }],
})
const environment = await client.beta.environments.create({ name: `first ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
})

// Open the stream before you post, so that you miss no event.
const stream = await client.beta.sessions.events.stream(session.id)
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'run: uname -a' }] }],
})
for await (const event of stream) {
  if (event.type === 'agent.message')
    for (const block of event.content) if (block.type === 'text') console.log(block.text)
  if (event.type === 'session.status_idle') break
}
