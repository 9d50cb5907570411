/** Gives the agent a file, and takes the file that the agent makes in /mnt/session/outputs. */
import Anthropic, { toFile } from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })

const numbers = await client.beta.files.upload({
  file: await toFile(Buffer.from('3\n1\n2\n'), 'numbers.txt'),
})
const agent = await client.beta.agents.create({
  name: 'Sorter',
  model: MODEL,
  tools: [{ type: 'agent_toolset_20260401' }],
})
const environment = await client.beta.environments.create({ name: `files ${Date.now()}` })
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
  resources: [{ type: 'file', file_id: numbers.id, mount_path: '/workspace/numbers.txt' }],
})

const stream = await client.beta.sessions.events.stream(session.id)
const text = 'run: sort -n numbers.txt > /mnt/session/outputs/sorted.txt'
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
})
for await (const event of stream) if (event.type === 'session.status_idle') break

for await (const file of client.beta.files.list({ scope_id: session.id })) {
  if (file.filename !== 'sorted.txt') continue
  const content = await client.beta.files.download(file.id)
  console.log(`${file.filename}: ${(await content.text()).trim().split('\n').join(' ')}`)
}
