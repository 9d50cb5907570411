/** A credential for commands: the sandbox has a placeholder, and the secret is put into the request on its way out. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })

const vault = await client.beta.vaults.create({ display_name: 'Keys of the example' })
await client.beta.vaults.credentials.create(vault.id, {
  display_name: 'An HTTPS API',
  auth: {
    type: 'environment_variable',
    secret_name: 'API_TOKEN',
    secret_value: 'a-secret-that-stays-outside',
    networking: { type: 'limited', allowed_hosts: ['api.example.com'] },
  },
})
const agent = await client.beta.agents.create({
  name: 'API user',
  model: MODEL,
  tools: [{ type: 'agent_toolset_20260401' }],
})
const environment = await client.beta.environments.create({ name: `secrets ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
  vault_ids: [vault.id],
})

const stream = await client.beta.sessions.events.stream(session.id)
const text = 'run: echo "the sandbox has $API_TOKEN"'
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
})
for await (const event of stream) {
  if (event.type === 'agent.tool_result') console.log(JSON.stringify(event.content))
  if (event.type === 'session.status_idle') break
}
