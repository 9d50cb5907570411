/** A custom tool: the agent calls it, and your program answers. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })
const { events } = client.beta.sessions

const temperatures: Record<string, string> = { Berlin: '9 °C', Lisbon: '18 °C' }

const agent = await client.beta.agents.create({
  name: 'Weather agent',
  model: MODEL,
  tools: [
    {
      type: 'custom',
      name: 'get_temperature',
      description: 'The temperature of a city now',
      input_schema: {
        type: 'object',
        properties: { city: { type: 'string', description: 'Its name' } },
        required: ['city'],
      },
    },
  ],
})
const environment = await client.beta.environments.create({ name: `weather ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
})

const stream = await events.stream(session.id)
const text = 'call get_temperature {"city": "Lisbon"}'
await events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
})
for await (const event of stream) {
  if (event.type === 'agent.custom_tool_use') {
    const city = String(event.input['city'])
    console.log('The agent asks for', city)
    await events.send(session.id, {
      events: [
        {
          type: 'user.custom_tool_result',
          custom_tool_use_id: event.id,
          content: [{ type: 'text', text: temperatures[city] ?? 'unknown' }],
        },
      ],
    })
  }
  if (event.type === 'agent.message')
    for (const block of event.content) if (block.type === 'text') console.log(block.text)
  if (event.type === 'session.status_idle' && event.stop_reason.type !== 'requires_action') break
}
