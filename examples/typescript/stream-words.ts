/** The answer as the model writes it. Pieces are not kept; the message that follows them is. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })

const agent = await client.beta.agents.create({ name: 'Writer', model: MODEL })
const environment = await client.beta.environments.create({ name: `words ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
})

const stream = await client.beta.sessions.events.stream(session.id, {
  event_deltas: ['agent.message'],
})
await client.beta.sessions.events.send(session.id, {
  events: [
    {
      type: 'user.message',
      content: [{ type: 'text', text: 'say: These words come one after the other.' }],
    },
  ],
})
for await (const event of stream) {
  if (event.type === 'event_delta' && event.delta.type === 'content_delta')
    if (event.delta.content.type === 'text') process.stdout.write(event.delta.content.text)
  if (event.type === 'session.status_idle') break
}
process.stdout.write('\n')
